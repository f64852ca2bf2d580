/** What is known of a node whose run is followed. Milliseconds of one clock. */
export interface Heard {
  node: string
  /** Position in the gang; 0 leads. */
  index: number
  /** Its run is over, since when. */
  over: number | undefined
  /** When something came from it the last time, or following began. */
  at: number
}

/** Of silence after which a node is given up; run.follow says something every five seconds. Members themselves wait 30 s for their leader. */
const SILENT_MS = {member: 20_000, leader: 60_000}
const LOOK_MS = 500

/**
 * Nodes that are dead for us although the run is known to be over: what is silent for too long since the leader has ended it, or, where the
 * leader is silent, since all others that speak have. As long as nobody knows the end, silence means nothing: the run goes on without us. Pure.
 */
export function goneNodes(nodes: Heard[], now: number): string[] {
  const leader = nodes.find((one) => one.index === 0)
  const open = nodes.filter((one) => one.over === undefined)
  const isSilent = (one: Heard, since: number): boolean => now - Math.max(one.at, since) > (one.index === 0 ? SILENT_MS.leader : SILENT_MS.member)
  if (leader?.over !== undefined) return open.filter((one) => isSilent(one, leader.over as number)).map((one) => one.node)
  const ends = nodes.flatMap((one) => one.over ?? [])
  const isLost = ends.length > 0 && open.every((one) => isSilent(one, one.index === 0 ? Math.max(...ends) : 0))
  return isLost ? open.map((one) => one.node) : []
}

/** Watches over the nodes of a run that is followed; `signal` of a node is aborted once it is gone. */
export class Silence {
  readonly #nodes: (Heard & {gone: AbortController})[]
  readonly #timer: NodeJS.Timeout

  constructor(nodes: {node: string; index: number}[]) {
    this.#nodes = nodes.map(({node, index}) => ({node, index, over: undefined, at: performance.now(), gone: new AbortController()}))
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

  /** The run is over there. */
  end(node: string): void {
    this.#of(node).over = performance.now()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #of(node: string): Heard & {gone: AbortController} {
    return this.#nodes.find((one) => one.node === node) as Heard & {gone: AbortController}
  }
}
