import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, it} from 'vitest'
import {makeContext, type CliError} from '../../../src/lib/base/index.ts'
import {loadNative, type Product} from '../../../src/lib/gpu/native.ts'
import {planServe} from '../../../src/lib/gpu/serve.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import type {Backend} from '../../../src/lib/protocol/index.ts'
import {rackNodes} from '../../support/planned-nodes.ts'
import {recordingFleet} from '../../support/recording-fleet.ts'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'flexrack-serve-'))))
afterEach(() => rm(folder, {recursive: true, force: true}))

const NVML = 'libflexrack-sim-nvml.so'
const nameOf = async (product: Product): Promise<string | undefined> =>
  (await loadNative(product, {FLEXRACK_NATIVE: folder}))[0]?.name

/** Two nodes, of which the second one's daemon has an NCCL; `settings` are what runs there. */
async function plan(
  products: string[],
  backend: Backend = 'sim',
  settings?: object,
  oversubscribe?: number,
): Promise<{
  placed: string[]
  orders: Record<string, {nvml?: string; oversubscribe?: number}>
  failed: Map<string, CliError>
}> {
  for (const name of products) await writeFile(join(folder, name), name)
  const [plain, collective] = rackNodes(2)
  const nodes = [plain!, {...collective!, gpu: {env: {FLEXRACK_NCCL: '/opt/libnccl.so.2'}}}]
  const fleet = recordingFleet({
    'gpu.inspect': () => ({
      folder: '/g',
      system: 'linux',
      machine: 'x86_64',
      placed: [],
      keeper: 'supervisor',
      comes_back: {by: 'none', why: 'no cron'},
      running: settings !== undefined,
      pid: settings ? 7 : null,
      settings: settings ?? null,
    }),
  })
  const rack: Rack = {name: 'lab', path: '/lab.yaml', nodes, head: {node: 'n0', bind: '127.0.0.1'}}
  const context = makeContext({env: {FLEXRACK_HOME: join(folder, '.flexrack'), FLEXRACK_NATIVE: folder}})
  const {plan: made, failed} = await planServe(
    {rack, fleet},
    nodes,
    {backend, ...(oversubscribe !== undefined && {oversubscribe})},
    context,
  )
  const starts = made.steps.filter((step) => step.kind === 'gpu.start')
  return {
    placed: made.steps.filter((step) => step.kind === 'gpu.place').map((step) => step.id),
    orders: Object.fromEntries(starts.map(({node, input}) => [node, input.settings])),
    failed: failed as Map<string, CliError>,
  }
}

it('a GPU in software has an NVML where its daemon has an NCCL, and there alone', async () => {
  const {placed, orders, failed} = await plan(['flexrack-gpud', 'libflexrack-sim.so', NVML])
  expect(failed.size).toBe(0)
  const [gpud, sim, nvml] = [await nameOf('flexrack-gpud'), await nameOf('libflexrack-sim.so'), await nameOf(NVML)]
  expect(placed).toEqual([
    ...[gpud, sim].map((name) => `place:n0:${name}`),
    ...[gpud, sim, nvml].map((name) => `place:n1:${name}`),
  ])
  expect(orders.n0).not.toHaveProperty('nvml')
  expect(orders.n1).toMatchObject({driver: sim, nvml})
})

it('a daemon that runs without it, of an older flexrack, is replaced; one that has it stays', async () => {
  const products = ['flexrack-gpud', 'libflexrack-sim.so', NVML]
  const {orders} = await plan(products)
  const {nvml: _, ...older} = orders.n1!
  const running = (settings: object): object => ({...settings, env: {FLEXRACK_NCCL: '/opt/libnccl.so.2'}})
  expect(Object.keys((await plan(products, 'sim', running(older))).orders)).toContain('n1')
  expect(Object.keys((await plan(products, 'sim', running(orders.n1!))).orders)).toEqual(['n0'])
})

it('a machine’s own driver has its own NVML', async () => {
  const {placed, orders} = await plan(['flexrack-gpud', 'libflexrack-sim.so', NVML], 'cuda')
  expect(placed).toHaveLength(2)
  expect(orders.n1).not.toHaveProperty('nvml')
})

it('where none was built, a daemon with an NCCL is refused, and no other', async () => {
  const {orders, failed} = await plan(['flexrack-gpud', 'libflexrack-sim.so'])
  expect(Object.keys(orders)).toEqual(['n0'])
  expect(failed.get('n1')).toMatchObject({
    code: 'NATIVE_MISSING',
    message: `${NVML} is not built: it is not in FLEXRACK_NATIVE, ${folder}`,
  })
})

it('a node keeps the memory for turns that it has had, until it is told 0 or serves OpenCL', async () => {
  const had = {program: 'gpud', backend: 'cuda', oversubscribe: 2 ** 30}
  const memory = async (backend: Backend, wish?: number): Promise<unknown> =>
    (await plan(['flexrack-gpud'], backend, had, wish)).orders.n0?.oversubscribe
  expect([await memory('cuda'), await memory('cuda', 2 ** 31)]).toEqual([2 ** 30, 2 ** 31])
  expect([await memory('cuda', 0), await memory('opencl')]).toEqual([undefined, undefined])
  const {failed} = await plan(['flexrack-gpud'], 'opencl', had, 2 ** 30)
  expect(failed.get('n0')).toMatchObject({code: 'USAGE', hint: expect.stringContaining('--oversubscribe 0')})
})
