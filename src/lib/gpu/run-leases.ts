import {CliError, ownerName, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {LeasedGpu, LeaseWish} from '../placement/index.ts'
import type {HeldLeases} from '../protocol/index.ts'
import type {Rack} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {leaseEnvironment, leaseFile} from './lease-file.ts'
import {findRoute, type Route} from './reach.ts'
import {prepareNode} from './site.ts'
import {releaseLeases, takeNow, type TakenLease} from './take.ts'
import type {Choice} from './types.ts'

export interface RunLeases {
  held: HeldLeases
  /** Gives all of it back, where the supervisor did not come to hold it. Never throws. */
  release(): Promise<void>
}

/**
 * Leases what was chosen for the ranks of a run on one node, and puts there what they need for it; seen in the order of
 * the ranks. All or nothing. Who holds them is the run's supervisor: a lease that nobody takes up ends by itself.
 * Errors: GPU_UNAVAILABLE where somebody was quicker; NODE_UNFIT where a daemon can only be reached through this
 * machine, which a run has to outlive; NATIVE_MISSING; those of nodes.
 */
export async function leaseForRun(
  place: {rack: Rack; fleet: Fleet},
  {host, ranks, wish, run}: {host: Host; ranks: LeasedGpu[][]; wish: LeaseWish & {cap: boolean}; run: string},
  context: Context,
): Promise<RunLeases> {
  const {remote: _remote, ...share} = wish
  const site = await prepareNode(host, ranks[0]?.[0]?.api ?? 'cuda', context)
  const taking = {request: {...share, count: 1}, owner: ownerName(context), purpose: `run ${run} on ${host.node}`}
  const leases = await takeNow(place, taking, choicesOf(ranks), context)
  try {
    const routes: Route[] = []
    for (const lease of leases) routes.push(await directRoute(place, lease, host, context))
    const content = leaseFile(leases, routes, undefined)
    const {keeper, file, folder, libraries, vendors} = await site.deliver(content)
    const held = {
      keeper,
      file,
      folder: folder as string,
      libraries,
      env: leaseEnvironment({file, vendors, libraries}, undefined, content.servers),
    }
    return {
      held,
      release: async () => {
        await releaseLeases(place, leases, context)
        if (folder !== undefined) await host.call('gpu.forget', {folder}).catch(() => {})
      },
    }
  } catch (error) {
    await releaseLeases(place, leases, context)
    throw error
  }
}

/** One lease for each rank and daemon, in the order in which ranks are to see their devices. Pure. */
export function choicesOf(ranks: LeasedGpu[][]): Choice[] {
  return ranks.flatMap((devices) =>
    [...Map.groupBy(devices, (one) => one.node)].map(([node, own]) => ({
      node,
      devices: own.map(({id, index, name, memory}) => ({id, index, name, memory})),
    })),
  )
}

async function directRoute(
  place: {rack: Rack; fleet: Fleet},
  lease: TakenLease,
  host: Host,
  context: Context,
): Promise<Route> {
  const route = await findRoute(place, lease, {from: host}, context)
  if (route.way !== 'tunnel') return route
  await route.close()
  throw new CliError(
    'NODE_UNFIT',
    `${host.node} cannot reach the GPU daemon of ${lease.node} but through this machine, which a run has to outlive`,
    {
      hint: `in the rack file open the daemon of ${lease.node} to the network of the nodes (gpu: {bind: ...}), then: flexrack gpu serve ${lease.node}`,
      details: {node: lease.node},
    },
  )
}
