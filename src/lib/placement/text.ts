import {linkText} from '../topology/index.ts'
import {isTaken} from './free.ts'
import {compareScores} from './group.ts'
import type {Candidate, Group, PlacementRequest} from './types.ts'

/** Why a node was taken, one sentence. */
export function chosenText({topology}: Candidate, group: Group | null, left: number): string {
  if (group === null) return 'It is free, and among those that are the next in the rack file.'
  const names = group.members.map((at) => `GPU${topology?.gpus[at]?.index}`).join(', ')
  const link = group.score.link
  const how = link === null ? names : `${names} are the free GPUs with the best links: ${link.kind === 'unknown' ? 'what lies between them is not known' : `${linkText(link)} at worst`}`
  return `${how}; ${left === 0 ? 'none stays free beside them' : `${left} more ${left === 1 ? 'stays' : 'stay'} free`}.`
}

/** Why a node that would do was not taken. `last`: the least good group that was. */
export function notNeededText({nodes}: PlacementRequest, group: Group | null, last: Group | null): string {
  if (group !== null && last !== null && compareScores(last.score, group.score) < 0) {
    return `Its best free GPUs have worse links (${group.score.link === null ? '?' : linkText(group.score.link)} at worst) than those that were taken.`
  }
  return `It would do, but ${nodes === 1 ? 'one node is' : `${nodes} nodes are`} enough, and ${group === null ? 'it comes later in the rack file' : 'on those taken fewer GPUs are left over, or they come earlier in the rack file'}.`
}

/** Why a node does not fit, one sentence. */
export function lackText(candidate: Candidate, {processes, gpusPerRank, exclusive}: PlacementRequest, used: ReadonlySet<string>): string {
  const {topology, held, busy, problem} = candidate
  if (problem !== null || topology === null) return sentence(problem ?? 'nothing is known of it')
  if (isTaken(candidate, exclusive)) {
    const who = held.filter((one) => one.here && (one.exclusive || exclusive)).map((one) => one.by)
    return exclusive && !held.some((one) => one.here && one.exclusive) ? `The whole node is asked for, and ${listed(who)} ${who.length === 1 ? 'is' : 'are'} on it.` : `${listed(who)} has the whole node.`
  }
  const size = processes * gpusPerRank
  const {gpus} = topology
  if (gpus.length === 0) return 'It has no GPUs.'
  const reasons = new Map<string, number[]>()
  for (const {uuid, index, parts} of gpus) {
    const holder = held.find((one) => one.gpus.includes(uuid))
    const why = parts > 0 ? 'in parts (MIG), which are not placed' : holder ? `${holder.by}'s` : (busy[uuid] ?? (used.has(uuid) ? 'taken for another node of this run on the same machine' : undefined))
    if (why !== undefined) reasons.set(why, [...(reasons.get(why) ?? []), index])
  }
  const taken = [...reasons].map(([why, indices]) => `${indices.map((index) => `GPU${index}`).join(', ')} ${indices.length === 1 ? 'is' : 'are'} ${why}`)
  const free = gpus.length - [...reasons.values()].flat().length
  const count = `${size} GPU${size === 1 ? ' is' : 's are'} asked for, and it has ${taken.length === 0 ? gpus.length : `${free} free of ${gpus.length}`}`
  return `${count}${taken.length === 0 ? '' : `: ${taken.join('; ')}`}.`
}

function listed(words: string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}${/[.!?]$/.test(clause) ? '' : '.'}`
}
