import type {Readable} from 'node:stream'
import type {Verbs} from '../protocol/index.ts'
import type {NodeShell} from '../ssh/index.ts'

/** A verb of the node program. */
export type Verb = keyof Verbs

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
  /** Absolute path of the Python that runs it. */
  readonly python: string
  /** At which other nodes reach it, where the rack file says so. */
  readonly address?: string
  /** How it gets at package indexes, as the rack file says; absent: as the node does by itself. */
  readonly network?: {way: 'direct' | 'through-client' | 'bundle'; hosts: readonly string[]}
  /**
   * Calls a verb of the node program, see protocol/. `body` follows the input on stdin as raw bytes.
   * Errors of the program come back as CliError with the code it gave, or REMOTE_FAILED.
   */
  call<V extends Verb>(
    verb: V,
    input: Verbs[V]['input'],
    options?: CallOptions<Verbs[V]['event']>,
  ): Promise<Verbs[V]['result']>
}

export interface CallOptions<Event = never> {
  signal?: AbortSignal
  body?: Readable | Uint8Array
  /** Every event line the verb prints before its result. */
  onEvent?: (event: Event) => void
}

/** A Python environment on a node, ready to use. */
export interface Environment {
  /** Content hash: requirements text, Python version, platform. 16 hex digits. */
  hash: string
  /** Absolute path on the node; python is at `<path>/bin/python`. */
  path: string
  /** False if it was there already. */
  built: boolean
}
