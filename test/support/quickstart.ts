import {spawn} from 'node:child_process'
import {readFile, readdir} from 'node:fs/promises'
import {join, resolve} from 'node:path'
import {expect, onTestFinished} from 'vitest'
import {sharedEnvironments} from './environments.ts'
import {recorded} from './recording.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** `npm run quickstart` in a folder: from there to a prediction, and nothing is left running. */
export async function passQuickstart(folder: string): Promise<void> {
  const {status, output} = await quickstart(folder)
  expect(status, output).toBe(0)
  const accuracy = Number(/test accuracy through the endpoint: ([\d.]+)/.exec(output)?.[1])
  expect(accuracy).toBeGreaterThanOrEqual(0.95)
  expect(output).toMatch(/prediction: \d {3}\(it is a \d\)/)
  expect(await processesOfFolder(folder)).toEqual([])
}

async function quickstart(folder: string): Promise<{status: number | null; output: string}> {
  const environments = await sharedEnvironments()
  const child = spawn(
    process.execPath,
    [join(root, 'scripts', 'quickstart.ts'), '--folder', folder, '--environments', environments],
    {env: {...process.env, ...recorded()}, stdio: ['ignore', 'pipe', 'pipe']},
  )
  const ended = new Promise<number | null>((done) => child.on('close', done))
  // One that ran out of time must not leave its rack and head.
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return {status: await ended, output}
}

/** Processes whose environment or command line names this test's folder: whatever the quickstart started. */
async function processesOfFolder(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const [environment, command] = await Promise.all(
      ['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    )
    if (`${environment}${command}`.includes(folder)) found.push(`${pid} ${(command ?? '').replaceAll('\0', ' ')}`)
  }
  return found
}
