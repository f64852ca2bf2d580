// Boards: TensorBoard over the event files of runs. Times in seconds since 1970, by the node's clock. Generated from protocol/board.json by `npm run protocol`.
import type {ServiceState} from './service.ts'

/** An event file of TensorBoard, and whose it is. */
export interface EventFile {
  run: string
  attempt: number
  /** Null: no rank is known to have written it. */
  rank: number | null
  /** Where it was written. */
  node: string
  /** Below the folder that was looked through; empty: in it. */
  folder: string
  name: string
  bytes: number
  /** Absolute. */
  path: string
}

export interface BoardQuestion {
  run: string
  /** Only files of this one. */
  rank?: number
}

export interface EventsFound {
  /** More may come. */
  live: boolean
  files: EventFile[]
  /** Folders that were looked through. Absolute. */
  looked: string[]
  /** False: there is more in them than is looked through. */
  whole: boolean
}

export interface BoardWanted {
  /** Lower-case letters and digits. */
  id: string
  runs: string[]
  rank?: number
  /** Seconds after which it ends if nobody looks; 0: never. */
  idle: number
  /** The environment that has TensorBoard. Absolute. */
  server: string
}

/** What its service is started with. */
export interface BoardPrepared {
  id: string
  argv: string[]
  cwd: string
}

/** What a board was started with, for its server. */
export interface BoardSettings {
  runs: string[]
  rank: number | null
  idle: number
  socket: string
}

export interface BoardId {
  id: string
}

export interface BoardAccess {
  /** Absolute. */
  socket: string
  token: string
}

export interface DamagedFile {
  /** Below the board's folder: RUN/attempt-N/rank-R/... */
  file: string
  why: string
}

/** What a board's server saw last. */
export interface BoardState {
  /** It answers. */
  ready: boolean
  /** It has read once all there was. */
  loaded: boolean
  at: number
  /** If nobody looks before. */
  ends_at: number | null
  /** Why it ended by itself. */
  ended: 'idle' | null
  files: number
  bytes: number
  /** What stands in them behind the damage is not shown. */
  damaged: DamagedFile[]
  /** False: folders of the runs have more in them than is looked through. */
  whole: boolean
}

export interface BoardSeen {
  service: ServiceState
  now: number
  seen: BoardState | null
}

export interface BoardRange {
  path: string
  offset: number
  bytes: number
}

export interface BoardRead {
  files: BoardRange[]
}

export interface BoardChunk {
  event: 'chunk'
  /** Base64. */
  data: string
}

export interface BoardReadEnd {
  /** Of each file. */
  bytes: number[]
}

export interface BoardPiece {
  file: EventFile
  offset: number
  bytes: number
}

export interface BoardPieces {
  id: string
  pieces: BoardPiece[]
}

export interface BoardAppended {
  /** Bytes that there are now of each file. */
  sizes: number[]
}

export interface BoardRemoved {
  stopped: boolean
  removed: boolean
}

export interface BoardVerbs {
  /** The event files of a run that lie on this node. */
  'board.find': {input: BoardQuestion; result: EventsFound; event: never}
  /** Makes the folder of a board, and says what its service is started with. */
  'board.prepare': {input: BoardWanted; result: BoardPrepared; event: never}
  /** Where a board listens, and its token. */
  'board.access': {input: BoardId; result: BoardAccess; event: never}
  /** What a board does. */
  'board.look': {input: BoardId; result: BoardSeen; event: never}
  /** Ranges of event files. */
  'board.read': {input: BoardRead; result: BoardReadEnd; event: BoardChunk}
  /** What has come of other nodes' event files; the bytes follow. */
  'board.append': {input: BoardPieces; result: BoardAppended; event: never}
  /** Ends a board, and removes what is its own. */
  'board.remove': {input: BoardId; result: BoardRemoved; event: never}
}
