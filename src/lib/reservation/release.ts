import {CliError, ownerName, type Context} from '../base/index.ts'
import {nearestName} from '../document/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {NodeReport} from '../nodes/index.ts'
import {executePlan, throwIfFailed, valuesOf, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import type {ReleaseAnswer, NodeReservations, Reservation} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {wantsText} from './text.ts'

export type ReleaseKinds = {
  'rack.release': {
    input: {node: string; lease: string; owner: string; force: boolean}
    output: ReleaseAnswer & {node: string}
  }
}

export const RELEASE_HANDLERS: Handlers<ReleaseKinds, {host(node: string): Promise<Host>}> = {
  'rack.release': async ({node, lease, owner, force}, _done, {host}) => ({
    node,
    ...(await (await host(node)).call('reservation.release', {lease, owner, force})),
  }),
}

/** A lease as `rack release` found it: what it has on which node. */
export interface ChosenLease {
  lease: string
  owner: string
  parts: {node: string; reservation: Reservation}[]
  /** What releaseLease would do. */
  plan: PlanOf<ReleaseKinds>
}

/** What was freed, by node, and what was not. */
export interface Released {
  lease: string
  owner: string
  released: {node: string; state: Reservation['state']}[]
  left: {node: string; why: string}[]
}

/**
 * The lease that is meant, by its name or the beginning of it, and what freeing it would do. `user`: whose we say it
 * is; ours by default. Pure. Errors: NOT_FOUND, CONFLICT (several, or it is running and nobody said --force), REFUSED
 * (somebody else's).
 */
export function planRelease(
  reports: NodeReport<NodeReservations>[],
  name: string,
  {user, force}: {user?: string | undefined; force: boolean},
  context: Pick<Context, 'env'>,
): ChosenLease {
  const parts = reports.flatMap(({node, value}) =>
    (value?.reservations ?? []).map((reservation) => ({node, reservation})),
  )
  const leases = [...new Set(parts.map((one) => one.reservation.lease))]
  const named = leases.includes(name) ? [name] : leases.filter((one) => one.startsWith(name))
  if (named.length > 1)
    throw new CliError('CONFLICT', `${named.length} reservations begin with ${name}`, {
      details: {leases: named},
      hint: 'flexrack rack reservations',
    })
  const [lease] = named
  if (lease === undefined) {
    const near = nearestName(name, leases)
    throw new CliError('NOT_FOUND', `no node has a reservation ${name}${near ? `; did you mean ${near}?` : ''}`, {
      hint: 'flexrack rack reservations',
      details: {nearest: near},
    })
  }
  const all = parts.filter((one) => one.reservation.lease === lease)
  const whose = user ?? ownerName(context)
  const mine = all.filter((one) => one.reservation.owner === whose)
  const [other] = all.filter((one) => one.reservation.owner !== whose)
  if (mine.length === 0 && other) {
    throw new CliError(
      'REFUSED',
      `${lease} belongs to ${other.reservation.owner} (account ${other.reservation.user} on ${other.node}), not to ${whose}`,
      {
        hint: `ask ${other.reservation.owner}, or say whose it is:\nflexrack rack release ${lease} --user ${other.reservation.owner}`,
        details: {lease, owner: other.reservation.owner, user: other.reservation.user},
      },
    )
  }
  const running = mine.find((one) => one.reservation.state === 'running')
  if (running && !force) {
    throw new CliError('CONFLICT', `run ${lease} is running on ${running.node} and gives its nodes back when it ends`, {
      hint: `flexrack runs stop ${lease}\nflexrack rack release ${lease} --force   (ends its ranks)`,
      details: {lease, nodes: mine.map((one) => one.node)},
    })
  }
  return {lease, owner: whose, parts: mine, plan: releasePlan(lease, whose, force, mine)}
}

/** One step a node: its reservations of the lease are freed together. */
function releasePlan(lease: string, owner: string, force: boolean, parts: ChosenLease['parts']): PlanOf<ReleaseKinds> {
  const steps = [...Map.groupBy(parts, (one) => one.node)].map(([node, own]): StepOf<ReleaseKinds> => {
    const reservations = own.map((one) => one.reservation)
    const what = reservations.map(({wants, state}) => `${wantsText(wants)} (${state})`).join(' and ')
    const isRunning = reservations.some((one) => one.state === 'running')
    return {
      id: `release:${node}`,
      node,
      kind: 'rack.release',
      needs: [],
      input: {node, lease, owner, force},
      title: `Free what ${lease} of ${owner} has: ${what}${isRunning ? '; and end its ranks' : ''}`,
    }
  })
  return {command: 'rack release', steps}
}

/** Frees it on its nodes. Errors: REFUSED where the node's own rights forbid it, and those of a node. */
export async function releaseLease(
  {lease, owner, parts, plan}: ChosenLease,
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  context: Context,
): Promise<Released> {
  const host = (name: string): Promise<Host> =>
    openHost(fleet, rack.nodes.find((one) => one.name === name) as RackNode, context)
  const outcomes = await executePlan(plan, RELEASE_HANDLERS, {host}, context)
  throwIfFailed(outcomes)
  const answers = valuesOf<ReleaseKinds, 'rack.release'>(outcomes, 'rack.release')
  const released = answers.flatMap((one) => one.released.map(({state}) => ({node: one.node, state})))
  const left = answers.flatMap((one) => one.left.map(({why}) => ({node: one.node, why})))
  const [forbidden] = left.filter((one) => one.why === 'right')
  if (forbidden) {
    const account = parts.find((one) => one.node === forbidden.node)?.reservation.user
    throw new CliError(
      'REFUSED',
      `${lease} belongs to the account ${account} on ${forbidden.node}: only that account and root can free it`,
      {details: {lease, released, left}},
    )
  }
  return {lease, owner, released, left}
}
