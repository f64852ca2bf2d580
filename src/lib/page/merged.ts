import {rangesOf} from '../base/index.ts'
import type {LinesAt, MergedWish, PageLines} from '../head/index.ts'
import type {Verbs} from '../protocol/index.ts'

type MergedLog = Verbs['run.merged']['result']
type Piece = MergedLog['pieces'][number]

/** Looks of a sampler are some seconds apart. */
const SILENT_MS = 120_000

/** What a node is asked. */
export function mergedQuestion({run, attempt, ranks, only, at}: MergedWish): Verbs['run.merged']['input'] {
  return {run, attempt, ranks, only, ...('before' in at ? {before: at.before} : placeOf(at))}
}

/** A place in a log, as nodes are asked for it. Pure. */
export function placeOf(at: LinesAt): {from?: number; search?: string; after?: number; failure?: boolean} {
  if ('from' in at) return {from: at.from}
  if ('search' in at) return {search: at.search, after: at.after}
  return 'error' in at ? {failure: true} : {}
}

/** Where all nodes are to be read from, once each has said where it found what was looked for; undefined: nowhere. */
export function earliest(parts: ReadonlyMap<string, MergedLog>): {from: number; found: number} | undefined {
  const found = [...parts.values()].flatMap(({from, found: at}) => (at === null ? [] : [{from, found: at}]))
  return found.toSorted((a, b) => a.found - b.found)[0]
}

/**
 * The parts of all nodes as one, by time and rank. Nodes give as much as fits: what not all of them have is left for the next
 * part. `isBack`: they were read up to a place, not from one on.
 */
export function mergeParts(parts: ReadonlyMap<string, MergedLog>, isBack: boolean): PageLines {
  const all = [...parts.values()]
  const attempt = Math.max(...all.map((one) => one.attempt))
  const those = all.filter((one) => one.attempt === attempt)
  const begin = isBack ? Math.max(...those.map((one) => one.from)) : Math.min(...those.map((one) => one.from))
  const last = Math.max(...those.map((one) => one.to))
  // A node that has nothing more holds nobody up, nor one whose sampler has ended; one that may still write does.
  const waited = those.filter((one) => one.live && (one.pieces.length > 0 || one.to > last - SILENT_MS))
  const to = isBack || waited.length === 0 ? last : Math.min(...waited.map((one) => one.to))
  const pieces = those
    .flatMap((one) => one.pieces)
    .filter(({t}) => t > begin && t <= to)
    .toSorted((a, b) => a.t - b.t || a.rank - b.rank)
  const numbers = (list: number[]): number[] => [...new Set(list)].toSorted((a, b) => a - b)
  return {
    rank: null,
    attempt,
    node: [...parts.keys()].join(', '),
    from: begin,
    to: Math.max(begin, to),
    size: those.reduce((sum, one) => sum + one.size, 0),
    text: textOf(pieces),
    open: those.some((one) => one.live),
    ranks: numbers(those.flatMap((one) => one.ranks)),
    attempts: numbers(all.flatMap((one) => one.attempts)),
  }
}

/** Lines with their ranks before them: what several ranks wrote alike, between the same two looks, stands there once. Pure. */
export function textOf(pieces: readonly Piece[]): string {
  const lines: {ranks: number[]; text: string}[] = []
  let known = new Map<string, number[]>()
  let time = -1
  for (const {t, rank, text} of pieces) {
    if (t !== time) known = new Map()
    time = t
    const times = new Map<string, number>()
    for (const line of text.replace(/\n$/, '').split('\n')) {
      // The second line of a rank that says the same goes with the others' second one.
      const count = (times.get(line) ?? 0) + 1
      times.set(line, count)
      const same = known.get(`${count} ${line}`)
      if (same && same.at(-1) !== rank) same.push(rank)
      else {
        const ranks = [rank]
        known.set(`${count} ${line}`, ranks)
        lines.push({ranks, text: line})
      }
    }
  }
  return lines.map(({ranks, text}) => `[${rangesOf(ranks)}] ${text}\n`).join('')
}
