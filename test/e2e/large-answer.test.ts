import {spawn} from 'node:child_process'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram} from '../support/program.ts'

const NODES = 2000
let folder: string

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-large-'))
  const nodes = Array.from({length: NODES}, (_, index) => `  - {name: node-${index + 1}, host: host-of-node-${index + 1}.example}\n`)
  await writeFile(join(folder, 'large.yaml'), `nodes:\n${nodes.join('')}`)
})
afterAll(() => rm(folder, {recursive: true, force: true}))

test('an answer, or an error, that is larger than what a pipe holds comes whole, however late it is read', async () => {
  const shown = JSON.parse(await readLate(['rack', 'show', join(folder, 'large.yaml'), '--json'])) as {nodes: unknown[]}
  expect(shown.nodes).toHaveLength(NODES)
  const refused = JSON.parse(await readLate(['train', '--rack', join(folder, 'large.yaml'), '--nodes', String(NODES + 1), '--json', '-C', await project()])) as {error: {details: {nodes: string[]}}}
  expect(refused.error.details.nodes).toHaveLength(NODES)
})

async function project(): Promise<string> {
  await writeFile(join(folder, 'flexrack.yaml'), 'name: large\ntrain: {command: train.py}\n')
  return folder
}

/** stdout of the command, which nobody reads until it has written what fits. */
async function readLate(words: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../bin/run.js'), ...words], {env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}, stdio: ['ignore', 'pipe', 'ignore']})
  await new Promise((resolve) => child.stdout.once('readable', resolve))
  await pause(500) // it would have ended meanwhile, if it did not wait for us
  let text = ''
  for await (const chunk of child.stdout) text += String(chunk)
  return text
}
