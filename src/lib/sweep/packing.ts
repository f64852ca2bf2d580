/** A node as far as trials are put on it. */
export interface Room {
  node: string
  /** CPUs that programs there may use; null where it does not tell. */
  cores: number | null
}

/**
 * Chooses nodes for trials that have no GPUs to choose by: each goes to the nodes with most room left, then in the
 * order of the rack; so as many fit as can. A node takes no more trials than its cores have processes for, but one in
 * any case. Pure but for what it remembers.
 */
export class Packing {
  readonly #rooms: Room[]
  readonly #size: number
  readonly #processes: number
  readonly #taken = new Map<string, number>()

  /** `size`: nodes of a trial; `processes`: of it on each of them. */
  constructor(rooms: Room[], {size, processes}: {size: number; processes: number}) {
    this.#rooms = rooms
    this.#size = size
    this.#processes = processes
  }

  /** Trials at the same time at most. */
  get capacity(): number {
    // Every trial takes one place on `size` different nodes: n trials fit where the nodes, each counted up to n places,
    // have n * size of them.
    let fits = 0
    const most = this.#rooms.reduce((sum, room) => sum + this.#places(room), 0)
    for (let trials = 1; trials <= most; trials++) {
      const places = this.#rooms.reduce((sum, room) => sum + Math.min(trials, this.#places(room)), 0)
      if (places >= trials * this.#size) fits = trials
    }
    return fits
  }

  /** Nodes for one more trial, in the order of the rack; undefined where there is no room for it. */
  take(): string[] | undefined {
    const rooms = this.#rooms
      .map((room, index) => ({node: room.node, index, left: this.#places(room) - (this.#taken.get(room.node) ?? 0)}))
      .filter(({left}) => left > 0)
    if (rooms.length < this.#size) return undefined
    const nodes = rooms
      .sort((a, b) => b.left - a.left || a.index - b.index)
      .slice(0, this.#size)
      .sort((a, b) => a.index - b.index)
      .map(({node}) => node)
    this.add(nodes)
    return nodes
  }

  /** Trials of an earlier command that go on there. */
  add(nodes: string[]): void {
    for (const node of nodes) this.#taken.set(node, (this.#taken.get(node) ?? 0) + 1)
  }

  giveBack(nodes: string[]): void {
    for (const node of nodes) this.#taken.set(node, Math.max(0, (this.#taken.get(node) ?? 0) - 1))
  }

  /** Trials that share a node when all places are taken: what its cores are divided by. */
  sharing(parallel: number): number {
    const each = Math.ceil((Math.min(parallel, this.capacity) * this.#size) / Math.max(1, this.#rooms.length))
    return Math.max(1, Math.min(each, ...this.#rooms.map((room) => this.#places(room))))
  }

  #places({cores}: Room): number {
    return cores === null ? 1 : Math.max(1, Math.floor(cores / this.#processes))
  }
}
