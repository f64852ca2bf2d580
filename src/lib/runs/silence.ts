import type {NodeRun, NodeRunDetail} from '../protocol/index.ts'
import {stateOf, type Reported} from './leading.ts'

/** What is known of a node whose run is followed. Milliseconds of one clock. */
export interface Heard extends Reported {
  /** Position in the gang. */
  index: number
  /** It has the result that its leader committed. */
  committed: boolean
  /** Another node can lead the run. */
  replaceable: boolean
  /** Its run is over, since when. */
  over: number | undefined
  /** When something came from it the last time, or following began. */
  at: number
}

/**
 * Of silence after which a node is given up; run.follow says something every five seconds. Members themselves wait 30 s
 * for their leader, and up to 45 s more for another one.
 */
const SILENT_MS = {member: 20_000, leader: 60_000}
const LOOK_MS = 500

/**
 * Nodes that are dead for us although the run is known to be over: what is silent for too long since somebody has
 * reported the committed result of the newest leader, or since that one is over and nobody could follow it. Otherwise
 * since all others that speak are over: those that are silent may have chosen another leader and go on without us,
 * which is for the caller to say. As long as nobody knows an end, silence means nothing: the run goes on without us.
 * Pure.
 */
export function goneNodes(nodes: Heard[], now: number): string[] {
  const {term, leader} = stateOf({run: 'that is followed', nodes})
  const open = nodes.filter((one) => one.over === undefined)
  const isSilent = (one: Heard, since: number, most: number): boolean => now - Math.max(one.at, since) > most
  const commits = nodes.flatMap((one) =>
    one.over !== undefined && one.term === term && (one.committed || (one.node === leader && !one.replaceable))
      ? [one.over]
      : [],
  )
  if (commits.length > 0) {
    const since = Math.min(...commits)
    return open
      .filter((one) => isSilent(one, since, one.node === leader ? SILENT_MS.leader : SILENT_MS.member))
      .map((one) => one.node)
  }
  const ends = nodes.flatMap((one) => one.over ?? [])
  const isLost = ends.length > 0 && open.every((one) => isSilent(one, Math.max(...ends), SILENT_MS.leader))
  return isLost ? open.map((one) => one.node) : []
}

/** Watches over the nodes of a run that is followed; `signal` of a node is aborted once it is gone. */
export class Silence {
  readonly #nodes: (Heard & {gone: AbortController})[]
  readonly #timer: NodeJS.Timeout

  constructor(nodes: NodeRun[]) {
    this.#nodes = nodes.map(({node, index, term, leader, replaceable}) => ({
      node,
      index,
      term,
      leader,
      replaceable,
      committed: false,
      over: undefined,
      at: performance.now(),
      gone: new AbortController(),
    }))
    this.#timer = setInterval(() => {
      const gone = goneNodes(this.#nodes, performance.now())
      for (const one of this.#nodes) if (gone.includes(one.node)) one.gone.abort()
    }, LOOK_MS)
  }

  signal(node: string): AbortSignal {
    return this.#of(node).gone.signal
  }

  /** Something came from it. */
  hear(node: string): void {
    this.#of(node).at = performance.now()
  }

  /** It says who leads the run; a supervisor that has only just begun does not. */
  lead(node: string, {term, leader}: Partial<Pick<NodeRun, 'term' | 'leader'>>): void {
    if (term !== undefined && leader !== undefined) Object.assign(this.#of(node), {term, leader})
  }

  /** The run is over there. */
  end(node: string, {term, leader, committed}: NodeRunDetail): void {
    Object.assign(this.#of(node), {term, leader, committed, over: performance.now()})
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #of(node: string): Heard & {gone: AbortController} {
    return this.#nodes.find((one) => one.node === node) as Heard & {gone: AbortController}
  }
}
