// The head's files on its node. Generated from protocol/head.json by `npm run protocol`.
import type {Nothing} from './node.ts'
import type {ComesBack} from './service.ts'

export interface HeadQuestion {
  nodes: string[]
  oldest: number[]
  programs: string[]
}

export interface NodeProgramFound {
  path: string
  version: string
}

export interface HeadNode {
  /** The head's folder. */
  folder: string
  /** As Python's platform.system().lower(): linux, darwin. */
  system: string
  /** As uname -m: x86_64, aarch64, arm64. */
  machine: string
  /** glibc, or another. */
  libc: string
  /** A Node.js there that is new enough. */
  node: NodeProgramFound | null
  /** Names of the asked-for program files that are there. */
  placed: string[]
  memory_free: number | null
  comes_back: ComesBack
}

export interface ProgramFile {
  name: string
  sha256: string
  executable?: boolean
}

export interface FilePlaced {
  path: string
}

/** config.json is made of this. */
export interface HeadConfigured {
  config: Record<string, unknown>
}

/** With what a standby follows its head. */
export interface HeadFollowToken {
  token: string
  /** PEM. */
  ca: string
}

export interface HeadKept {
  keep: string[]
}

export interface FilesRemoved {
  removed: string[]
}

/** listener.json: written once the head listens. */
export interface ListenerRecord {
  pid: number
  /** Where the node itself calls it, with TLS. Heads of older versions lack it. */
  address?: string
  port: number
  /** Without TLS, on loopback. */
  plainPort?: number
  url: string
}

export interface HeadAccess {
  listener: ListenerRecord | null
  token: string | null
  ca: string | null
  /** Of a standby: the id of the token with which it follows. Older nodes lack it. */
  follows?: string | null
  /** The head has quotas: it is asked before a run takes anything. */
  quotas?: boolean
}

export interface HeadVerbs {
  /** What is there of a head, and a Node.js that is new enough. */
  'head.inspect': {input: HeadQuestion; result: HeadNode; event: never}
  /** Takes a program file as the body. */
  'head.place': {input: ProgramFile; result: FilePlaced; event: never}
  /** Writes the head's configuration. */
  'head.configure': {input: HeadConfigured; result: FilePlaced; event: never}
  /** Keeps the token of a standby, and what others trust at it. */
  'head.follow': {input: HeadFollowToken; result: Nothing; event: never}
  /** Removes older programs and configurations. */
  'head.tidy': {input: HeadKept; result: FilesRemoved; event: never}
  /** Where the head is, and what opens it. */
  'head.access': {input: Nothing; result: HeadAccess; event: never}
}
