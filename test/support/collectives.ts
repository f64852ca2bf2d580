import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {expect} from 'vitest'
import {loadRack, saveRack} from '../../src/lib/rack/index.ts'
import {startLocalRack} from './local-rack.ts'
import {flexrack as program, type Ended} from './program.ts'

const root = resolve(import.meta.dirname, '../..')
const ranks = join(root, 'test/fixtures/gpu/nccl_ranks.py')
/** What the fixture sums up: elements of a rank, all of them, and how they grow with each sum of two equal ranks. */
const ELEMENTS = 5000
const RANK_1 = 100

export interface Collectives {
  /** test/fixtures/gpu/nccl_ranks.py with a GPU of each of two nodes, attached. */
  attach(transport: string): Promise<Ended>
  stop(): Promise<void>
}

/** A rack of two nodes with a GPU in software each, whose daemons have that NCCL and take each other for two machines. */
export async function startCollectives(
  library: string,
  env: Record<string, string>,
  ...sim: string[]
): Promise<Collectives> {
  const native = process.env.FLEXRACK_NATIVE ?? join(root, 'native/build/release')
  const cache = await mkdtemp(join(tmpdir(), 'flexrack-collectives-'))
  const local = await startLocalRack({nodes: 2, env: {FLEXRACK_NATIVE: native}})
  const stop = async (): Promise<void> => {
    await local.stop()
    await rm(cache, {recursive: true, force: true})
  }
  const flexrack = (...args: string[]): Promise<Ended> => program(args, {env: local.env, cwd: local.home})
  try {
    const {nodes, ...rack} = await loadRack('local', local.env)
    await saveRack({
      ...rack,
      gpu: {env: {FLEXRACK_NCCL: library, FLEXRACK_SIM_CACHE: cache, ...env}},
      nodes: nodes.map((node) => ({...node, gpu: {env: {NCCL_HOSTID: node.name}}})),
    })
    const up = await flexrack('local', 'up', '--nodes', '2', '--gpu', 'sim', ...sim)
    expect(up, up.stderr).toMatchObject({status: 0})
  } catch (error) {
    await stop()
    throw error
  }
  return {attach: (transport) => flexrack('attach', '-n', '2', '--transport', transport, '--', 'python3', ranks), stop}
}

/** Both ranks have every sum, of the library that attach preloads alone, and what is finalized says so. */
export function expectSums({stdout}: Ended): void {
  const sums = [0, 1, 2].map((turn) => {
    const all = [...Array(ELEMENTS).keys()].map((index) => (RANK_1 + 2 * (index % 7)) * 2 ** turn)
    return [all[0], all.at(-1), all.reduce((sum, one) => sum + one, 0)]
  })
  const told = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as {rank: number})
  expect(told.toSorted((one, other) => one.rank - other.rank)).toEqual(
    [0, 1].map((rank) => ({rank, sums, finalized: [5, 5, 5, 4], files: ['libflexrack-nccl.so']})),
  )
}
