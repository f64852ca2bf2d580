import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {buildProgram, shell} from '../support/program.ts'

const NODES = 1000
/** So long that an error which names all nodes is larger than what a pipe holds. */
const nameOf = (index: number): string => `node-${index + 1}-${'x'.repeat(52)}`
let folder: string

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-large-'))
  const nodes = Array.from(
    {length: NODES},
    (_, index) => `  - {name: ${nameOf(index)}, host: host-of-${nameOf(index)}.example}\n`,
  )
  await writeFile(join(folder, 'flexrack.yaml'), 'name: large\ntrain: {command: train.py}\n')
  await writeFile(join(folder, 'large.yaml'), `nodes:\n${nodes.join('')}`)
})
afterAll(() => rm(folder, {recursive: true, force: true}))

test('an answer, or an error, that is larger than what a pipe holds comes whole, however late it is read', async () => {
  const shown = JSON.parse(await readLate('rack show $LARGE')) as {nodes: unknown[]}
  expect(shown.nodes).toHaveLength(NODES)
  const refused = JSON.parse(await readLate('train --rack $LARGE --nodes 1024')) as {
    error: {details: {nodes: string[]}}
  }
  expect(refused.error.details.nodes).toHaveLength(NODES)
})

/** stdout of the command, which nobody reads until it has written what a pipe takes (64 KiB). */
async function readLate(words: string): Promise<string> {
  return (
    await shell(`$FLEXRACK ${words} --json 2>/dev/null | { sleep 1; cat; }`, {
      env: {FLEXRACK_HOME: join(folder, 'home'), LARGE: join(folder, 'large.yaml')},
      cwd: folder,
    })
  ).stdout
}
