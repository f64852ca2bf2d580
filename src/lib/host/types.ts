import type {Readable} from 'node:stream'
import type {NodeShell} from '../ssh/index.ts'

/** A node with flexrack's node program (node/flexrack_node, standard-library Python) in place. */
export interface Host {
  readonly node: string
  readonly shell: NodeShell
  /** Absolute path of flexrack's folder on the node. */
  readonly root: string
  /** Absolute path of the folder of Python environments. */
  readonly environments: string
  /** Absolute path of the node program there. */
  readonly program: string
  /**
   * Calls a verb of the node program. `input` is plain data; `body` follows it on stdin as raw bytes.
   * Errors of the program come back as CliError with the code it gave, or REMOTE_FAILED.
   */
  call<T>(verb: string, input: unknown, options?: CallOptions): Promise<T>
}

export interface CallOptions {
  signal?: AbortSignal
  body?: Readable | Uint8Array
  /** Every event line the verb prints before its result, e.g. {event: 'progress', ...}. */
  onEvent?: (event: NodeEvent) => void
}

/** What a verb may say before its result. `event` names the kind; the rest depends on it. */
export type NodeEvent = {event: string} & Record<string, unknown>

/** A Python environment on a node, ready to use. */
export interface Environment {
  /** Content hash: requirements text, Python version, platform. 16 hex digits. */
  hash: string
  /** Absolute path on the node; python is at `<path>/bin/python`. */
  path: string
  /** False if it was there already. */
  built: boolean
}
