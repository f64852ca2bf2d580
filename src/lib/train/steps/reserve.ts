import type {NodeReport} from '../../nodes/index.ts'
import type {NodeReservations, Wants} from '../../protocol/index.ts'
import {reserveGang, wantsText} from '../../reservation/index.ts'
import {wantsOn} from '../place.ts'
import type {RunSpec} from '../types.ts'
import type {Reserved, ReserveInput, TrainEnv, TrainStep} from './types.ts'

/** Before anything is changed: whoever has to wait, or is refused, knows it in the first second. Pure. */
export function reserveStep(spec: RunSpec, held: NodeReport<NodeReservations>[], wait: number | undefined): TrainStep {
  const nodes = spec.placements.map((one) => one.node.name)
  const wants = spec.placements.map((one) => wantsOn(spec, one))
  const now = held.flatMap(({node, value}) => (value?.reservations ?? []).map((one) => ({...one, at: node})))
  const input: ReserveInput = {
    lease: spec.run,
    project: spec.project,
    nodes,
    wants: Object.fromEntries(nodes.map((node, index) => [node, wants[index] ?? spec.wants])),
    wait: wait === Infinity ? 'forever' : (wait ?? null),
    ...(spec.chosen && {placement: spec.chosen}),
    ...(held.length > 0 && {held: now}),
  }
  return {
    id: 'reserve',
    node: null,
    kind: 'train.reserve',
    title: `Reserve ${nodes.join(', ')}, all or none (each: ${wantsText(wants[0] ?? spec.wants)})`,
    input,
    needs: [],
  }
}

export async function reserve(
  {lease, project, nodes, wants, wait}: ReserveInput,
  _done: unknown,
  {host, context}: TrainEnv,
): Promise<Reserved> {
  const hosts = await Promise.all(nodes.map(host))
  const gang = {lease, project, wants: wants[nodes[0] as string] as Wants, on: new Map(Object.entries(wants))}
  const reservation = await reserveGang(
    hosts,
    gang,
    {wait: wait === 'forever' ? Infinity : (wait ?? undefined), reach: host},
    context,
  )
  return {reservation, fences: Object.fromEntries(reservation.fences)}
}
