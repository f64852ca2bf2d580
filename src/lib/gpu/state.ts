import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {overNodes, type NodeReport} from '../nodes/index.ts'
import type {DaemonDevice, DaemonLease, DaemonState} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {GpuDevice, GpuNode, Lease} from './types.ts'

/** Asks the daemons of these nodes, all at once. A node that cannot be reached is a report like any other. */
export function readGpuNodes(nodes: RackNode[], fleet: Fleet, context: Context): Promise<NodeReport<GpuNode>[]> {
  return overNodes('Asking', nodes, fleet, context, async (node) => {
    const host = await openHost(fleet, node, context)
    return fromRaw(node.name, await host.call('gpu.state', {}, {signal: context.signal}))
  })
}

/** The daemon's words as ours: a device knows its holders. Pure. */
export function fromRaw(node: string, {state, status, devices, leases}: DaemonState): GpuNode {
  return {
    node,
    state,
    version: status?.version ?? null,
    backend: status?.backend ?? null,
    address: status?.address ?? null,
    port: status?.port ?? null,
    refused: status?.refused ?? {},
    devices: devices.map((device) => deviceOf(node, device, leases)),
    leases: leases.map((lease) => leaseOf(node, lease)),
  }
}

function deviceOf(node: string, device: DaemonDevice, leases: DaemonLease[]): GpuDevice {
  const holders = leases.flatMap(({lease, owner, purpose, devices}) => {
    const share = devices.find((one) => one.id === device.id)
    if (!share) return []
    const {memory, compute, whole, turns, longest_launch: longestLaunch = null} = share
    return [{lease, owner, purpose, memory, compute, whole, longestLaunch, ...(turns && {turns})}]
  })
  const {index, id, name, vendor, driver, api, capability = null, memory, used, reserved} = device
  // Of leases that take turns, what is in the host's memory is not in use on the device.
  const out = leases
    .flatMap((lease) => lease.devices.filter((one) => one.id === device.id))
    .reduce((sum, one) => sum + (one.turns ? one.used - one.turns.physical : 0), 0)
  const {is_thrashing: isThrashing = false, ...beyond} = device.oversubscribed ?? {}
  const free = reserved ? {memory: 0, compute: 0} : device.free
  if (reserved)
    holders.push({...reserved, purpose: `run ${reserved.lease}`, memory, compute: 1, whole: true, longestLaunch: null})
  return {
    node,
    index,
    id,
    name,
    vendor,
    driver,
    api,
    capability,
    memory,
    computeUnits: device.compute_units,
    free,
    oversubscribed: device.oversubscribed ? {...(beyond as typeof device.oversubscribed), isThrashing} : null,
    whole: device.leased.whole || reserved !== undefined,
    used: used - out,
    utilisation: device.utilization,
    holders,
  }
}

function leaseOf(node: string, raw: DaemonLease): Lease {
  const {lease, state, owner, purpose, created} = raw
  const devices = raw.devices.map(({longest_launch: longestLaunch = null, turns, ...one}) => ({
    index: one.index,
    id: one.id,
    name: one.name,
    memory: one.memory,
    compute: one.compute,
    whole: one.whole,
    cap: one.cap,
    used: one.used,
    longestLaunch,
    ...(turns && {turns}),
  }))
  return {
    node,
    lease,
    state,
    owner,
    purpose,
    created,
    endsIn: raw.ends_in_seconds,
    holder: raw.holder?.address ?? null,
    devices,
    programs: raw.sessions.length,
  }
}
