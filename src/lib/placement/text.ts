import {linkText} from '../topology/index.ts'
import {isTaken} from './free.ts'
import {compareScores} from './group.ts'
import type {Candidate, Group, LeasedGpu, LeaseWish, PlacementRequest} from './types.ts'

interface Taking {
  group: Group | null
  /** GPUs that stay free. */
  left: number
}

/** What a node is told of that fits where the gang as a whole does not. */
export const WOULD_DO = 'It would do, but not enough others would.'

/** Why a node was taken, one sentence. */
export function chosenText({topology}: Candidate, group: Group | null, left: number): string {
  if (group === null) return 'It is free, and among those that are the next in the rack file.'
  const names = group.members.map((at) => `GPU${topology?.gpus[at]?.index}`).join(', ')
  const link = group.score.link
  const how =
    link === null
      ? names
      : `${names} are the free GPUs with the best links: ${link.kind === 'unknown' ? 'what lies between them is not known' : `${linkText(link)} at worst`}`
  return `${how}; ${left === 0 ? 'none stays free beside them' : `${left} more ${left === 1 ? 'stays' : 'stay'} free`}.`
}

/** Why a node was taken whose ranks get leases, and which, one or two sentences. */
export function leasedText(candidate: Candidate, request: PlacementRequest, ranks: LeasedGpu[][]): string {
  const wish = request.leased as LeaseWish
  const byNode = Map.groupBy(ranks.flat(), (one) => one.node)
  const what = [...byNode].map(([node, devices]) => {
    const names = devices.map((one) => `GPU${one.index}`).join(', ')
    return node === candidate.node ? `${names} of its own` : `${names} of ${node}`
  })
  const part =
    wish.fraction !== undefined
      ? `${wish.fraction} of each of `
      : wish.memory !== undefined
        ? `${Math.round(wish.memory / 2 ** 20)} MiB on each of `
        : ''
  const isShared = candidate.topology?.gpus.length === 0 && byNode.has(candidate.node)
  const lack = isShared
    ? 'What it has is shared by its GPU daemon'
    : lackText(candidate, request, new Set()).replace(/\.$/, '')
  const why = wish.fraction !== undefined || wish.memory !== undefined ? 'Shares are asked for' : lack
  const far = [...byNode.keys()].some((node) => node !== candidate.node)
  return `${why}; leased: ${part}${listed(what)}${far ? ', over the network' : ''}.`
}

/** Why a node that would do was not taken. `last`: the least good one that was. */
export function notNeededText({nodes}: PlacementRequest, fit: Taking, last: Taking): string {
  if (fit.group !== null && last.group !== null && compareScores(last.group.score, fit.group.score) < 0) {
    const [mine, theirs] = [fit.group.score, last.group.score]
    if (mine.worst < theirs.worst)
      return `Its best free GPUs have worse links (${mine.link === null ? '?' : linkText(mine.link)} at worst) than those that were taken.`
    return 'Its best free GPUs are as well linked at worst as those that were taken, but less well on the whole.'
  }
  const why =
    fit.left > last.left
      ? `taking it would leave ${fit.left} of its GPUs over, more than on those that were taken`
      : 'it comes later in the rack file'
  return `It would do, but ${nodes === 1 ? 'one node is' : `${nodes} nodes are`} enough, and ${why}.`
}

/** Why a node does not fit, one sentence. */
export function lackText(
  candidate: Candidate,
  {processes, gpusPerRank, exclusive, leased}: PlacementRequest,
  used: ReadonlySet<string>,
): string {
  const {topology, held, busy, problem} = candidate
  if (problem !== null || topology === null) return sentence(problem ?? 'nothing is known of it')
  if (isTaken(candidate, exclusive)) {
    const who = held.filter((one) => one.here && (one.exclusive || exclusive)).map((one) => one.by)
    return exclusive && !held.some((one) => one.here && one.exclusive)
      ? `The whole node is asked for, and ${listed(who)} ${who.length === 1 ? 'is' : 'are'} on it.`
      : `${listed(who)} has the whole node.`
  }
  const size = processes * gpusPerRank
  const {gpus} = topology
  if (leased && (leased.memory !== undefined || leased.fraction !== undefined))
    return lackOfShares(candidate, size, leased)
  if (gpus.length === 0) return 'It has no GPUs.'
  const reasons = new Map<string, number[]>()
  for (const {uuid, index, parts} of gpus) {
    const holder = held.find((one) => one.gpus.includes(uuid))
    const why =
      parts > 0
        ? 'in parts (MIG), which are not placed'
        : holder
          ? `${holder.by}'s`
          : (busy[uuid] ?? (used.has(uuid) ? 'taken for another node of this run on the same machine' : undefined))
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), index])
  }
  const taken = [...reasons].map(
    ([why, indices]) =>
      `${indices.map((index) => `GPU${index}`).join(', ')} ${indices.length === 1 ? 'is' : 'are'} ${why}`,
  )
  const free = gpus.length - [...reasons.values()].flat().length
  const count = `${size} GPU${size === 1 ? ' is' : 's are'} asked for, and it has ${taken.length === 0 ? gpus.length : `${free} free of ${gpus.length}`}`
  return `${count}${taken.length === 0 ? '' : `: ${taken.join('; ')}`}.`
}

function lackOfShares({shared}: Candidate, size: number, {remote}: LeaseWish): string {
  const free = (shared ?? []).map(
    (one) =>
      `GPU${one.index} has ${Math.round(one.free.memory / 2 ** 20)} MiB and ${Math.round(one.free.compute * 100)} % of its time free`,
  )
  const own = free.length === 0 ? 'no GPU daemon here shares any' : free.join('; ')
  return `${size} share${size === 1 ? ' of a GPU is' : 's of GPUs are'} asked for: ${own}${remote ? ', and the other nodes have too little besides' : ''}.`
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.!?]$/.test(clause) ? '' : '.'}`
}
