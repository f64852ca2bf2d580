// Reservations: who may have a node or its GPUs. Generated from protocol/reservation.json by `npm run protocol`.

/** What a run wants of a node. */
export interface Wants {
  /** Devices by UUID, which are nobody else's then; `all`: those the node has. */
  gpus: 'all' | string[]
  /** Ranks. They are told and not counted: cores are shared. */
  slots: number
  /** Nobody else's run on the node. */
  exclusive: boolean
}

/** A lease on a node, or a place in line for one. */
export interface Reservation {
  lease: string
  /** waiting: in line. prepared: its gang may still be refused elsewhere. confirmed: it has all its nodes and is being started. running: its supervisor has it. */
  state: 'waiting' | 'prepared' | 'confirmed' | 'running'
  /** Account on the node that it belongs to: this is sure. */
  user: string
  /** `name@machine` that the command line gave: only claimed. */
  owner: string
  project: string | null
  /** The node, as its owner's rack file calls it. */
  node: string
  /** All nodes of the gang, as its owner's rack file calls them. */
  nodes: string[]
  /** Seconds since 1970, by the node's clock. */
  since: number
  /** What it has that was wanted; only in refusals. */
  over: string | null
  /** On the node that was asked; false: it is another simulated node of the same machine, and only its GPUs matter here. */
  here: boolean
  wants: Had
  /** Seconds since its last heartbeat. */
  silent: number
  /** Seconds until it ends by itself unless it is renewed; null where it ends with its run. */
  ends_in: number | null
}

/** What a reservation has of a node. */
export interface Had {
  gpus: string[]
  slots: number
  exclusive: boolean
}

export interface TakeInput {
  /** The run's id. */
  lease: string
  owner: string
  project?: string | null
  node: string
  nodes: string[]
  wants: Wants
  /** Seconds that it lives without being renewed. */
  ttl: number
  /** A refusal leaves a place in line. */
  wait?: boolean
  /** Since when it waits on another node. */
  since?: number
  /** Runs that wait for the same, and that the head lets it pass. */
  passes?: string[]
  /** Renews the place in line, tells whether it would be granted, and takes nothing. */
  look?: boolean
}

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

/** A lease, and the fencing number with which it was granted. */
export interface LeaseFence {
  lease: string
  fence: number
}

export interface Renewed {
  /** Seconds that it lives from now on. */
  ttl: number
}

export interface ReleaseInput {
  lease: string
  /** Only what `reservation.take` has made for this node. */
  own?: boolean
  /** Back to its place in line. */
  wait?: boolean
  /** Also from a supervisor, which ends its ranks then. */
  force?: boolean
  /** Whose it has to be, unless it is our own. */
  owner?: string
}

export interface ReleaseAnswer {
  /** What was given back. */
  released: Reservation[]
  /** What was not, and why. */
  left: LeftReservation[]
}

export interface LeftReservation extends Reservation {
  /** owner: it is somebody else's. right: the node's own rights forbid it. running: its supervisor has it. */
  why: 'owner' | 'right' | 'running'
}

export interface NodeReservations {
  /** False where the users of the node do not see each other's. */
  shared: boolean
  /** Files of other users that hold no reservation that can be read. */
  damaged: number
  identity: string
  /** In order of arrival. */
  reservations: Reservation[]
}

export interface ReservationVerbs {
  /** Asks for a reservation. A refusal is an answer. */
  'reservation.take': {input: TakeInput; result: TakeAnswer; event: never}
  /** The gang has all its nodes: nobody counts on its being given back at once. */
  'reservation.confirm': {input: LeaseFence; result: Renewed; event: never}
  /** Another `ttl` seconds. Changes nothing where the supervisor has it. */
  'reservation.renew': {input: LeaseFence; result: Renewed; event: never}
  /** Gives it back. */
  'reservation.release': {input: ReleaseInput; result: ReleaseAnswer; event: never}
  /** Who has what now, and who waits. */
  'reservation.list': {input: null; result: NodeReservations; event: never}
}
