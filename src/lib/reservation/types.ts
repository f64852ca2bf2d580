/** What a run wants of each of its nodes. */
export interface Wants {
  /** Devices by UUID, which are nobody else's then; `all`: those the node has. */
  gpus: 'all' | string[]
  /** Ranks. Told, not counted: cores are shared. */
  slots: number
  /** Nobody else's run on the node. */
  exclusive: boolean
}

/** What is reserved on all nodes at once. */
export interface GangWish {
  /** The run's id: the name of the lease on every node. */
  lease: string
  project: string
  wants: Wants
  /** Instead of that, by node. */
  on?: ReadonlyMap<string, Wants>
}

/** A lease on a node, or a place in line for one. */
export interface Reservation {
  lease: string
  /**
   * waiting: in line. prepared: its gang may still be refused elsewhere. confirmed: it has all its nodes and is being started. running: its
   * supervisor has it.
   */
  state: 'waiting' | 'prepared' | 'confirmed' | 'running'
  /** Account on the node that it belongs to: this is sure. */
  user: string
  /** `name@machine` that the command line gave: only claimed. */
  owner: string
  project: string | null
  /** The node and all nodes of the gang, as its owner's rack file calls them. */
  node: string
  nodes: string[]
  /** Seconds since 1970, by the node's clock. */
  since: number
  /** What it has that was wanted; only in refusals. */
  over: string | null
  /** On the node that was asked; false: it is another simulated node of the same machine, and only its GPUs matter here. */
  here: boolean
  wants: {gpus: string[]; slots: number; exclusive: boolean}
  /** Seconds since its last heartbeat. */
  silent: number
  /** Seconds until it ends by itself unless it is renewed; null where it ends with its run. */
  endsIn: number | null
}

/** reservation.take. */
export interface TakeAnswer {
  granted: boolean
  fence: number | null
  since: number
  /** The machine and what of it the node is: the same for everybody who names it otherwise. */
  identity: string
  /** False where the users of the node do not see each other's. */
  shared: boolean
  gpus: string[]
  holders: Reservation[]
}

/** reservation.list. */
export interface NodeReservations {
  /** False where the users of the node do not see each other's. */
  shared: boolean
  /** Files of other users that hold no reservation that can be read. */
  damaged: number
  identity: string
  /** In order of arrival. */
  reservations: Reservation[]
}
