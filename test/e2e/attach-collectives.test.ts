import {execFileSync} from 'node:child_process'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {expectSums, startCollectives, type Collectives} from '../support/collectives.ts'
import {buildProgram} from '../support/program.ts'

/**
 * Two processes of one command, a GPU at each of two daemons: NCCL's names are those that attach preloads, and the
 * daemons' NCCL computes. Theirs is made up here; NVIDIA's own is in attach-collectives.long.test.ts.
 */
const native = resolve(import.meta.dirname, '../../native')
let folder: string
let rack: Collectives | undefined

beforeAll(async () => {
  buildProgram()
  folder = await mkdtemp(join(tmpdir(), 'flexrack-made-up-nccl-'))
  const library = join(folder, 'libmade_up_nccl.so')
  const words = ['-std=c++20', '-shared', '-fPIC', '-fvisibility=hidden', '-I', native, '-o', library]
  execFileSync('c++', [...words, join(native, 'test/backend/driver/made_up_nccl.cpp'), '-ldl'])
  rack = await startCollectives(library, {})
})
afterAll(async () => {
  await rack?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
})

it.each(['shm', 'tls'])('two ranks with a GPU at each of two daemons sum by their NCCL, over %s', async (transport) => {
  const done = await (rack as Collectives).attach(transport)
  expect(done, done.stderr).toMatchObject({status: 0})
  expectSums(done)
})
