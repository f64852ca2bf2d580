import {spawn} from 'node:child_process'
import {mkdtemp, readFile, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {recorded} from '../support/recording.ts'

const root = resolve(import.meta.dirname, '..', '..')
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-quickstart-'))
})
afterAll(async () => {
  await rm(folder, {recursive: true, force: true})
})

async function quickstart(): Promise<{status: number | null; output: string}> {
  const environments = await sharedEnvironments()
  const child = spawn(process.execPath, [join(root, 'scripts', 'quickstart.ts'), '--folder', folder, '--environments', environments], {env: {...process.env, ...recorded()}, stdio: ['ignore', 'pipe', 'pipe']})
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const status = await new Promise<number | null>((done) => child.on('close', done))
  return {status, output}
}

/** Processes whose environment or command line names this test's folder: whatever the quickstart started. */
async function processesOfFolder(): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
    const [environment, command] = await Promise.all(['environ', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')))
    if (`${environment}${command}`.includes(folder)) found.push(`${pid} ${(command ?? '').replaceAll('\0', ' ')}`)
  }
  return found
}

describe('npm run quickstart', () => {
  it.each(['the first time', 'again in the same folder'])('goes from an empty folder to a prediction, %s, and leaves nothing running', async () => {
    const {status, output} = await quickstart()
    expect(status, output).toBe(0)
    const accuracy = Number(/test accuracy through the endpoint: ([\d.]+)/.exec(output)?.[1])
    expect(accuracy).toBeGreaterThanOrEqual(0.95)
    expect(output).toMatch(/prediction: \d {3}\(it is a \d\)/)
    expect(await processesOfFolder()).toEqual([])
  }, 1_200_000)
})
