import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {overNodes, throwIfAnyFailed, type NodeReport} from '../nodes/index.ts'
import type {Plan} from '../plan/index.ts'
import type {Withdrawn} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {readGpuNodes} from './state.ts'

/** What a stop would end now. */
export async function planStop(nodes: RackNode[], fleet: Fleet, context: Context): Promise<Plan> {
  const reports = await readGpuNodes(nodes, fleet, context)
  throwIfAnyFailed(reports)
  const steps = reports.flatMap(({node, value}) => {
    if (!value || value.state === 'absent') return []
    const leases = value.leases.length === 1 ? ' and 1 lease with its programs (only with --force)' : value.leases.length > 1 ? ` and ${value.leases.length} leases with their programs (only with --force)` : ''
    return [{id: `stop:${node}`, node, kind: 'gpu.stop', title: `End the GPU daemon${leases}`, input: {leases: value.leases.length}, needs: []}]
  })
  return {command: 'gpu stop', steps}
}

/** Takes the daemons away. While leases are there: CONFLICT, unless forced; then their programs get errors from now on. */
export async function stopGpus(nodes: RackNode[], fleet: Fleet, force: boolean, context: Context): Promise<NodeReport<Withdrawn>[]> {
  const reports = await overNodes('Stopping GPUs on', nodes, fleet, context, async (node) => {
    const host = await openHost(fleet, node, context)
    return host.call('gpu.stop', {force}, {signal: context.signal})
  })
  throwIfAnyFailed(reports)
  return reports
}
