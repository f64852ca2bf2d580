import {CliError} from '../base/index.ts'
import type {Reservation, Wants} from '../protocol/index.ts'

/** `2 slots, all GPUs`; `1 slot, the whole node`. */
export function wantsText({gpus, slots, exclusive}: Wants | Reservation['wants']): string {
  const devices = exclusive
    ? 'the whole node'
    : gpus === 'all'
      ? 'all GPUs'
      : gpus.length > 0
        ? `${gpus.length} GPU${gpus.length === 1 ? '' : 's'}`
        : undefined
  return [`${slots} slot${slots === 1 ? '' : 's'}`, devices].filter((one) => one !== undefined).join(', ')
}

/** One clause: `digits-k3x9a of ada@laptop has the whole node since 10:12, until its run ends`. */
export function holderText(one: Reservation, now: Date = new Date()): string {
  const account = one.owner.startsWith(`${one.user}@`) ? '' : ` (account ${one.user})`
  const what = one.state === 'waiting' ? 'is before us in line for' : 'has'
  const over = one.over ?? wantsText(one.wants)
  return `${one.lease} of ${one.owner}${account} ${what} ${over} since ${clock(one.since, now)}, ${endText(one, now)}`
}

/** Until when: with its run, or by itself where it is not renewed. */
export function endText({state, ends_in, silent}: Reservation, now: Date = new Date()): string {
  if (state === 'waiting') return 'as long as its command waits'
  if (ends_in !== null) return `until ${clock(now.getTime() / 1000 + ends_in, now, true)} unless it is renewed`
  return silent > 60 ? `until its run ends (silent for ${Math.round(silent)} s)` : 'until its run ends'
}

/** RESERVED: which nodes, by whom, since when and until when. */
export function refusal(refused: {node: string; holders: Reservation[]}[], wished: number): CliError {
  const holders = refused.flatMap(({node, holders}) => holders.map((one) => ({at: node, ...one})))
  const nodes = refused.map((one) => one.node)
  const reported = [...new Map(holders.map((one) => [`${one.user} ${one.lease}`, one])).values()]
  const first = reported
    .slice(0, 3)
    .map((one) => holderText(one))
    .join('; ')
  const where =
    nodes.length > 4 ? `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more nodes` : nodes.join(', ')
  const outOf = wished > nodes.length ? ` (of ${wished} nodes)` : ''
  const more = reported.length > 3 ? `; and ${reported.length - 3} more` : ''
  return new CliError('RESERVED', `${where}${outOf}: ${first}${more}`, {
    details: {nodes, holders},
    hint: 'flexrack train --wait\nflexrack rack reservations',
  })
}

/** RESERVED: the nodes are free, and the head keeps them for others. */
export function notOurTurn(why: string | null | undefined): CliError {
  return new CliError('RESERVED', `the head keeps the nodes for others${why ? `: ${why}` : ''}`, {
    hint: 'flexrack runs queue',
  })
}

/** `10:12`, with the day where it is another one. */
function clock(seconds: number, now: Date, precise = false): string {
  const at = new Date(seconds * 1000)
  if (Number.isNaN(at.getTime())) return 'an unknown time'
  const time = at.toTimeString().slice(0, precise ? 8 : 5)
  const day = `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`
  return at.toDateString() === now.toDateString() ? time : `${day} ${time}`
}
