import type {Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {carryOutOver, throwIfAnyFailed, type NodeReport, type NodesPlan} from '../nodes/index.ts'
import type {Handlers, StepOf} from '../plan/index.ts'
import type {Withdrawn} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {readGpuNodes} from './state.ts'
import type {GpuNode} from './types.ts'

export type StopKinds = {
  /** `leases`: how many were found; with `force` all that are there then end. */
  'gpu.stop': {input: {node: string; force: boolean; leases: number}; output: Withdrawn}
}

export interface StopEnv {
  host(node: string): Promise<Host>
  context: Context
}

export const STOP_HANDLERS: Handlers<StopKinds, StopEnv> = {
  'gpu.stop': async ({node, force}, _done, {host, context}) =>
    (await host(node)).call('gpu.stop', {force}, {signal: context.signal}),
}

/**
 * What a stop would end now, on every node that can be asked: also where no daemon runs something of one may be left.
 */
export async function planStop(
  nodes: RackNode[],
  fleet: Fleet,
  force: boolean,
  context: Context,
): Promise<NodesPlan<StopKinds>> {
  const reports = await readGpuNodes(nodes, fleet, context)
  const steps = reports.flatMap(({node, value}): StepOf<StopKinds>[] =>
    value
      ? [
          {
            id: `stop:${node}`,
            node,
            kind: 'gpu.stop',
            title: titleOf(value, force),
            input: {node, force, leases: value.leases.length},
            needs: [],
          },
        ]
      : [],
  )
  return {plan: {command: 'gpu stop', steps}, failed: reports.filter((one): one is NodeReport<never> => !one.ok)}
}

function titleOf({state, leases}: GpuNode, force: boolean): string {
  if (state === 'absent') return 'Remove what is left of a GPU daemon; none runs'
  const others =
    leases.length === 0
      ? ''
      : ` and ${leases.length === 1 ? '1 lease with its' : `${leases.length} leases with their`} programs`
  return `End the GPU daemon${others}${leases.length > 0 && !force ? ' (only with --force)' : ''}`
}

/**
 * Takes the daemons away. While leases are there: CONFLICT, unless forced; then their programs get errors from now on.
 */
export async function stopGpus(
  nodes: RackNode[],
  fleet: Fleet,
  force: boolean,
  context: Context,
): Promise<NodeReport<Withdrawn>[]> {
  const host = (name: string): Promise<Host> =>
    openHost(fleet, nodes.find((one) => one.name === name) as RackNode, context)
  const planned = await planStop(nodes, fleet, force, context)
  const reports = await carryOutOver<StopKinds, StopEnv, Withdrawn>(
    'Stopping GPUs on',
    planned,
    {names: nodes.map((one) => one.name)},
    {handlers: STOP_HANDLERS, env: {host, context}},
    context,
  )
  throwIfAnyFailed(reports)
  return reports
}
