// Data sets: versions by content, and what of them a node has. Generated from protocol/data.json by `npm run protocol`.
import type {WaitingEvent} from './environment.ts'

export type DataFile = [string, boolean, number, string]

/** A version. */
export interface DataManifest {
  name: string
  /** SHA-256 over its files by path, each with mode and content. */
  digest: string
  /** When it was added: seconds since 1970. */
  at: number
  /** Machine and folder that it was added from. */
  source: string
  bytes: number
  files: DataFile[]
}

export interface DataDigest {
  digest?: string
  /** The run that is about to begin with it. */
  claim?: string
}

export interface DataVersionHere {
  name: string
  digest: string
  files: number
  bytes: number
  /** When it came, or a run began with it last: seconds since 1970. */
  used: number
  /** Those that are not over and have it. */
  runs: string[]
}

export interface DataHere {
  versions: DataVersionHere[]
  /** Of all contents, each once. */
  bytes: number
}

/** A content that a node lacks, or has no more than a beginning of. */
export type DataContent = [string, boolean, number]

export interface DataMissing {
  missing: DataContent[]
}

export interface DataOrder {
  manifest: DataManifest
  /** What the body has, in its order: of each content what is not there. */
  send: [string, boolean, number, number][]
  /** The run that is about to begin with it. */
  claim?: string
  /** Bytes that data may take on the node. */
  limit?: number | null
}

export interface DataGive {
  digest: string
  /** In this order. */
  contents: DataContent[]
  /** At which other nodes reach it; the one by which the caller came where absent. */
  address?: string
}

export interface DataGiven {
  bytes: number
}

/** Where a node gives contents, to whoever knows the secret. */
export interface DataSource {
  address: string
  port: number
  secret: string
}

export interface DataOpen {
  event: 'open'
  address: string
  port: number
  secret: string
}

export interface DataProgress {
  event: 'progress'
  done: number
  total: number
  unit: 'bytes'
}

export interface DataFetch extends DataOrder {
  source: DataSource
}

export interface DataReceived {
  /** That came now. */
  bytes: number
  /** Versions that gave way. */
  evicted: string[]
}

export interface DataVerify {
  digest: string
  fix?: boolean
}

export interface DataVerified {
  files: number
  bytes: number
  /** Paths whose content is not what the manifest says. */
  bad: string[]
}

export interface DataRemoved {
  removed: boolean
  /** That are free now. */
  bytes: number
}

export interface DataVerbs {
  /** The versions that are whole on the node. */
  'data.list': {input: DataDigest | null; result: DataHere; event: never}
  /** The contents of a version that the node lacks. */
  'data.missing': {input: DataManifest; result: DataMissing; event: never}
  /** Takes contents, which are the body, and makes the version. */
  'data.receive': {input: DataOrder; result: DataReceived; event: WaitingEvent}
  /** Gives contents of a version to one other node, and ends. */
  'data.give': {input: DataGive; result: DataGiven; event: DataOpen}
  /** Takes contents from another node, and makes the version. */
  'data.fetch': {input: DataFetch; result: DataReceived; event: DataProgress | WaitingEvent}
  /** Reads all of a version, and names what is not as its manifest says. */
  'data.verify': {input: DataVerify; result: DataVerified; event: WaitingEvent}
  /** Removes a version. */
  'data.remove': {input: DataDigest; result: DataRemoved; event: WaitingEvent}
}
