import type {NodeReport} from '../../lib/nodes/index.ts'
import type {NodeReservations, Reservation} from '../../lib/protocol/index.ts'
import {endText, wantsText, type Released} from '../../lib/reservation/index.ts'
import {paint} from '../terminal/print.ts'
import {minute, table} from '../terminal/render.ts'

/** One row a node and lease. */
export function reservationRows(all: (Reservation & {at: string})[]): string {
  const rows = all.map((one) => ({
    node: one.at,
    run: one.lease,
    owner: one.owner.startsWith(`${one.user}@`) ? one.owner : `${one.owner} (${one.user})`,
    has: one.state === 'waiting' ? paint.yellow(`waits for ${wantsText(one.wants)}`) : wantsText(one.wants),
    state: one.state,
    since: minute(one.since * 1000),
    until: endText(one),
  }))
  return table(rows, ['node', 'run', 'owner', 'has', 'state', 'since', 'until'])
}

/** All nodes that were asked: who has what, and what is not known. */
export function reservationsText(reports: NodeReport<NodeReservations>[]): string {
  const all = reports.flatMap(({node, value}) => (value?.reservations ?? []).map((one) => ({...one, at: node})))
  const failed = reports.filter((one) => !one.ok).map((one) => paint.red(`${one.node}: ${one.message}`))
  const alone = reports.filter((one) => one.value?.shared === false).map((one) => one.node)
  return [
    all.length === 0 ? 'Nothing is reserved.' : reservationRows(all),
    ...(alone.length > 0
      ? [
          paint.yellow(
            `${alone.join(', ')}: only your own account's are seen, because no folder is shared by all users`,
          ),
        ]
      : []),
    ...failed,
  ].join('\n')
}

/** Under a plan: who has the nodes now. */
export function heldText(reports: NodeReport<NodeReservations>[]): string {
  const nothing = reports.every((one) => one.ok && one.value?.reservations.length === 0)
  return nothing
    ? 'Nobody has reserved anything on these nodes.'
    : `Reserved on these nodes now:\n${reservationsText(reports)}`
}

export function releasedText({lease, owner, released, left}: Released): string {
  const running = released.some((one) => one.state === 'running')
  const nodes = [...new Set(released.map((one) => one.node))].join(', ')
  return [
    released.length === 0 ? `Nothing of ${lease} was left to free.` : `Freed ${nodes} of ${lease} (${owner}).`,
    ...(running ? ['Its ranks are being ended by their supervisors.'] : []),
    ...left.map((one) =>
      paint.yellow(
        `${one.node} was not freed: ${one.why === 'running' ? 'the run has begun meanwhile' : "it is somebody else's"}`,
      ),
    ),
  ].join('\n')
}
