import type {QuotaSum} from '../../head/index.ts'
import type {NodeReport} from '../../nodes/index.ts'
import type {ClaimPart, NodeReservations, Wants} from '../../protocol/index.ts'
import {openTurns, type RunTurns} from '../../quota/index.ts'
import {reserveGang, wantsText} from '../../reservation/index.ts'
import {wantsOn} from '../place.ts'
import type {RunSpec} from '../types.ts'
import {trackingFrom, trackingOf} from './reach.ts'
import type {Done, Reserved, ReserveInput, TrainEnv, TrainStep} from './types.ts'

export interface ReserveHow {
  wait: number | undefined
  /** Its connection to the tracking server is of others, too. */
  isShared: boolean
  /** A tracking server that the manifest names is asked nothing of this. */
  uri: string | undefined
  /** Limits that count for it, and what it would come to. */
  sums: QuotaSum[]
}

/** Before anything is changed: whoever has to wait, or is refused, knows it in the first second. Pure. */
export function reserveStep(
  spec: RunSpec,
  held: NodeReport<NodeReservations>[],
  {wait, isShared, uri, sums}: ReserveHow,
): TrainStep {
  const nodes = spec.placements.map((one) => one.node.name)
  const wants = spec.placements.map((one) => wantsOn(spec, one))
  const now = held.flatMap(({node, value}) => (value?.reservations ?? []).map((one) => ({...one, at: node})))
  const input: ReserveInput = {
    server: spec.tracked && uri === undefined ? trackingFrom(isShared) : null,
    lease: spec.run,
    gpus: gpusOf(spec),
    limit: spec.timeLimit ?? null,
    priority: spec.priority ?? 0,
    ...(spec.preemptible && {preemptible: spec.preemptible}),
    project: spec.project,
    nodes,
    wants: Object.fromEntries(nodes.map((node, index) => [node, wants[index] ?? spec.wants])),
    wait: wait === Infinity ? 'forever' : (wait ?? null),
    ...(spec.chosen && {placement: spec.chosen}),
    ...(held.length > 0 && {held: now}),
    ...(sums.length > 0 && {sums}),
  }
  const over = sums.filter((one) => one.over)
  return {
    id: 'reserve',
    node: null,
    kind: 'train.reserve',
    title: [
      `Reserve ${nodes.join(', ')}, all or none (each: ${wantsText(wants[0] ?? spec.wants)})`,
      ...over.map((one) => `${one.soft ? 'over a soft quota' : 'over a quota, so it is refused'}: ${one.text}`),
    ].join('; '),
    input,
    needs: [],
  }
}

export async function reserve(
  {server, lease, project, nodes, wants, wait, gpus, limit, priority, preemptible}: ReserveInput,
  done: Done,
  {host, shared, context}: TrainEnv,
): Promise<Reserved> {
  const hosts = await Promise.all(nodes.map(host))
  const gang = {lease, project, wants: wants[nodes[0] as string] as Wants, on: new Map(Object.entries(wants))}
  const wish = {run: lease, project, limit, priority, ...(preemptible && {preemptible})}
  const counted = (found: ClaimPart[]): number => gpus ?? new Set(found.flatMap((one) => one.gpus)).size
  const head = server ? trackingOf(server, done, shared).head : undefined
  const turns = head && openTurns(head, {...wish, gpus: counted}, wait !== null, context)
  try {
    const reservation = await reserveGang(
      hosts,
      gang,
      {wait: wait === 'forever' ? Infinity : (wait ?? undefined), reach: host, turns},
      context,
    )
    const {parts} = reservation
    return {
      reservation: turns ? withTurns(reservation, turns) : reservation,
      fences: Object.fromEntries(reservation.fences),
      claim: {...wish, gpus: counted(parts), parts},
    }
  } catch (error) {
    await turns?.release()
    throw error
  }
}

/** Shares add up; null: what its nodes turn out to have. */
export function gpusOf(spec: RunSpec): number | null {
  return spec.gpus === undefined ? null : spec.gpus * spec.worldSize * (spec.leased?.fraction ?? 1)
}

function withTurns(reservation: Reserved['reservation'], turns: RunTurns): Reserved['reservation'] {
  return {
    ...reservation,
    close() {
      turns.close()
      reservation.close()
    },
    async release() {
      await Promise.all([reservation.release(), turns.release()])
    },
  }
}
