import {execFileSync} from 'node:child_process'
import {mkdtemp, readdir, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, it} from 'vitest'
import {expectSums, startCollectives, type Collectives} from '../support/collectives.ts'
import {buildProgram} from '../support/program.ts'

/** The same as attach-collectives.test.ts with NVIDIA's own NCCL at the daemons: a wheel to fetch, much PTX to read. */
const native = resolve(import.meta.dirname, '../native')
let logs: string
let rack: Collectives | undefined

beforeAll(async () => {
  buildProgram()
  const script =
    'import sys; sys.path.insert(0, "frameworks"); from compare import FRAMEWORKS, nccl_library; print(nccl_library(FRAMEWORKS["nccl"].python()))'
  const library = execFileSync('python3', ['-c', script], {
    cwd: native,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
  logs = await mkdtemp(join(tmpdir(), 'flexrack-nccl-logs-'))
  const said = {NCCL_DEBUG: 'INFO', NCCL_DEBUG_FILE: join(logs, '%h-%p'), NCCL_IB_DISABLE: '1'}
  rack = await startCollectives(library, said, '--sim-profile', 'blackwell')
}, 1_800_000)
afterAll(async () => {
  await rack?.stop()
  if (logs) await rm(logs, {recursive: true, force: true})
})

it.each(['shm', 'tls'])("two ranks sum by NVIDIA's own NCCL at two daemons, over %s and sockets", async (transport) => {
  const done = await (rack as Collectives).attach(transport)
  expect(done, done.stderr).toMatchObject({status: 0})
  expectSums(done)
  const texts = await Promise.all((await readdir(logs)).map((name) => readFile(join(logs, name), 'utf8')))
  expect(texts.filter((text) => text.includes('via NET/Socket')).length).toBeGreaterThan(1)
})
