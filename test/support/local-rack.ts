import {mkdir, mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {localDown, localStatus, localUp, type LocalStatus} from '../../src/lib/local/index.ts'
import {loadRack, type Rack} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet, type NodeShell} from '../../src/lib/ssh/index.ts'

export interface TestLocalRack {
  /** FLEXRACK_HOME is set in it; give it to commands that are to use this rack. */
  env: NodeJS.ProcessEnv
  /** FLEXRACK_HOME. */
  home: string
  rack: Rack
  context(parts?: Partial<Context>): Context
  /** A new fleet over all nodes; closed by stop(). */
  fleet(parts?: Partial<Context>): Fleet
  /** The shell of a node, over one fleet that all calls share. */
  shell(node: string): Promise<NodeShell>
  status(): Promise<LocalStatus>
  /** Ends the rack and everything that was started on its nodes, and removes it all. */
  stop(): Promise<void>
}

/**
 * A local rack with a FLEXRACK_HOME of its own (or `home`, which then stays), for one test file. It also ends when this
 * process dies.
 */
export async function startLocalRack(options: {
  nodes: number
  home?: string
  environments?: string
  env?: NodeJS.ProcessEnv
}): Promise<TestLocalRack> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'flexrack-local-')))
  // GPUs are one run's of the whole machine: another test's run is none of this rack's business.
  const reservations = join(home, 'reservations')
  await mkdir(reservations, {recursive: true, mode: 0o700})
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...options.env,
    FLEXRACK_HOME: home,
    FLEXRACK_RESERVATIONS: reservations,
  }
  delete env.FLEXRACK_RACK
  const context = (parts: Partial<Context> = {}): Context => makeContext({env, ...parts})
  const remove = async (): Promise<void> => {
    await localDown({purge: true, grace: 2}, context())
    if (options.home === undefined) await rm(home, {recursive: true, force: true})
  }
  try {
    await localUp(
      {nodes: options.nodes, owner: process.pid, ...(options.environments && {environments: options.environments})},
      context(),
    )
  } catch (error) {
    await remove()
    throw error
  }
  const rack = await loadRack('local', env)
  const fleets: Fleet[] = []
  const fleet = (parts?: Partial<Context>): Fleet => {
    const opened = openFleet(rack.nodes, context(parts))
    fleets.push(opened)
    return opened
  }
  let shared: Fleet | undefined
  return {
    env,
    home,
    rack,
    context,
    fleet,
    shell: (node) => (shared ??= fleet()).shell(node),
    status: () => localStatus(context()),
    stop: async () => {
      await Promise.all(fleets.map((one) => one.close()))
      await remove()
    },
  }
}
