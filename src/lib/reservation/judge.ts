import type {ClaimPart, Reservation, TakeAnswer, Wants} from '../protocol/index.ts'

/**
 * What the answers of all nodes of a gang amount to. `unsettled`: only those are in the way that may themselves be
 * refused on another node in a moment. Pure.
 */
export function judge(answers: Iterable<TakeAnswer>): 'granted' | 'unsettled' | 'refused' {
  let verdict: 'granted' | 'unsettled' | 'refused' = 'granted'
  for (const {granted, holders} of answers) {
    if (granted) continue
    if (holders.some((one) => one.state !== 'prepared')) return 'refused'
    verdict = 'unsettled'
  }
  return verdict
}

/**
 * The order in which everybody takes nodes one after the other, whatever their rack files call them: with one order for
 * all, nobody waits for somebody who waits for them. Pure.
 */
export function inFixedOrder<T extends {node: string}>(hosts: T[], answers: ReadonlyMap<string, TakeAnswer>): T[] {
  const key = (host: T): string => answers.get(host.node)?.identity ?? ''
  return hosts.toSorted((a, b) => compare(key(a), key(b)) || compare(a.node, b.node))
}

/**
 * Since when a gang stands in line: by one node's clock, the first in the fixed order, so that it is the same number on
 * all. Pure.
 */
export function ticketOf(hosts: {node: string}[], answers: ReadonlyMap<string, TakeAnswer>): number {
  return answers.get(inFixedOrder(hosts, answers)[0]?.node ?? '')?.since ?? 0
}

/** What a gang wants, in words that are the same for everybody. Pure. */
export function partsOf(answers: ReadonlyMap<string, TakeAnswer>, wantsOn: (node: string) => Wants): ClaimPart[] {
  return [...answers].map(([node, {identity, gpus}]) => ({
    node: identity,
    gpus,
    exclusive: wantsOn(node).exclusive === true,
  }))
}

/** Who has what of these nodes, and is in the way. Pure. */
export function seenOf(answers: ReadonlyMap<string, TakeAnswer>): {run: string; parts: ClaimPart[]}[] {
  const all = [...answers.values()].flatMap(({identity, holders}) =>
    holders
      .filter((one) => one.state !== 'waiting')
      .map(({lease, wants: {gpus, exclusive}}) => ({lease, part: {node: identity, gpus, exclusive}})),
  )
  return [...Map.groupBy(all, (one) => one.lease)].map(([run, own]) => ({run, parts: own.map((one) => one.part)}))
}

/** Everybody in the way, by node. Pure. */
export function holdersByNode(answers: ReadonlyMap<string, TakeAnswer>): {node: string; holders: Reservation[]}[] {
  return [...answers].filter(([, one]) => !one.granted).map(([node, {holders}]) => ({node, holders}))
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
