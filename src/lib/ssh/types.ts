import type {Duplex, Readable, Writable} from 'node:stream'
import type {Secret} from '../base/index.ts'

/** What is needed to reach a node. A RackNode is one. */
export interface SshTarget {
  name: string
  host: string
  port?: number
  user?: string
  identityFile?: string
  proxyJump?: string
  knownHosts?: string
  /** When it goes away by itself, in ISO 8601; after that it is tried once, and not for long. */
  until?: string
  /** Command that mends it, told where its time was over, or nothing listens at its port. */
  wayOut?: string
}

/** What a person is asked about a host key that known_hosts does not have. */
export interface TrustQuestion {
  node: string
  /** As it would stand in known_hosts: `host` or `[host]:port`. */
  host: string
  /** ssh-ed25519 and the like. */
  keyType: string
  /** SHA256:..., as ssh-keygen -l prints it. */
  fingerprint: string
  /** The known_hosts file that would be added to. */
  file: string
}

export interface FleetOptions {
  /** Asked for a host key that is not known. Without it (in a pipe) the node is refused. Asked one at a time. */
  askTrust?: (question: TrustQuestion) => Promise<boolean>
  /** Asked once for each key file that is locked and that a node would accept; undefined means no. */
  askPassphrase?: (file: string) => Promise<Secret | undefined>
  /** Trusts and records every unknown host key. A changed one is refused all the same. */
  trustNew?: boolean
  /**
   * How many connections may be in the making at once, those to servers that say nothing not counted; 16 by default.
   */
  parallelStarts?: number
  /** Milliseconds for one connection to be made, questions not counted; 15000 by default. */
  connectTimeout?: number
  /**
   * Milliseconds between questions to a silent server; after three without an answer the connection counts as lost.
   * 15000 by default.
   */
  keepaliveInterval?: number
}

/** One multiplexed connection a node, made on first use and shared. */
export interface Fleet {
  /** The shell of a node, connected. Errors: NODE_UNREACHABLE, AUTH_FAILED, HOST_KEY_UNKNOWN, HOST_KEY_CHANGED. */
  shell(node: string): Promise<NodeShell>
  /** Ends every connection and forward. Never throws. */
  close(): Promise<void>
}

export interface ExecOptions {
  /** Sent to stdin, which is then closed. Without it stdin is empty. */
  input?: string | Uint8Array | Readable
  /** Exported before the script; never part of the command line that `ps` shows. */
  env?: Record<string, string>
  /** Milliseconds; then TIMED_OUT. */
  timeout?: number
  signal?: AbortSignal
  /** Complete chunks as they come; banners and shell start-up noise are already removed. */
  onStdout?: (chunk: Buffer) => void
  onStderr?: (chunk: Buffer) => void
}

export interface SpawnOptions extends Pick<ExecOptions, 'env' | 'signal'> {
  /** The beginning of its stdin: sent along with the script, a round trip earlier than what is written once it runs. */
  first?: string
}

export interface ExecResult {
  /** Exit status, or null where a signal ended it. */
  status: number | null
  /** Signal name without SIG, e.g. TERM. */
  signal: string | null
  stdout: string
  stderr: string
}

export interface RemoteProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Resolves when it has ended; rejects with NODE_UNREACHABLE if the connection was lost before. */
  exit: Promise<{status: number | null; signal: string | null}>
  /**
   * Sends a signal (name without SIG, TERM by default) to the command and everything it started in its process group.
   */
  kill(signal?: string): void
}

export interface TerminalOptions {
  /** Value of TERM there. */
  term: string
  rows: number
  columns: number
  env?: Record<string, string>
}

export interface RemoteTerminal {
  /** Both directions of the pty. */
  stream: NodeJS.ReadWriteStream
  resize(rows: number, columns: number): void
  exit: Promise<{status: number | null; signal: string | null}>
}

export interface Forward {
  /** The port that listens: here for a local forward, there for a remote one. */
  port: number
  close(): Promise<void>
}

/**
 * Who must be at the other end of a forward: TLS with a certificate for `name` from one of the authorities in `ca`
 * (PEM).
 */
export interface Pinned {
  ca: string
  name: string
  /** Told where somebody else is there; the connection is reset. */
  onUntrusted(error: Error): void
}

/** What a forward leads to: a port, of loopback by default, or a unix socket by its absolute path. */
export type ForwardTarget = {targetHost?: string; targetPort: number} | {targetSocket: string}

export type ForwardInput = {port?: number; pinned?: Pinned} & ForwardTarget

export type RemoteForwardInput =
  | {port?: number; targetHost?: string; targetPort: number}
  | {port?: number; take(stream: Duplex): void}

export interface NodeShell {
  readonly node: string
  /** Runs a POSIX sh script. A non-zero status is a result, not an error: see `run` for that. */
  exec(script: string, options?: ExecOptions): Promise<ExecResult>
  /** Like exec, but a non-zero status throws REMOTE_FAILED with the last lines of stderr. Returns stdout. */
  run(script: string, options?: ExecOptions): Promise<string>
  /** Starts a script with open streams. */
  spawn(script: string, options?: SpawnOptions): Promise<RemoteProcess>
  /** A script on a real pty. */
  terminal(script: string, options: TerminalOptions): Promise<RemoteTerminal>
  /**
   * Listens on 127.0.0.1:port here (0 chooses one) and connects each connection to the target as seen from the node.
   * With `pinned` it speaks TLS there, and plain here, and its port is kept until close(), also when the connection is
   * lost.
   */
  forwardLocal(input: ForwardInput): Promise<Forward>
  /**
   * Listens on the node's loopback and connects each connection to host:port as seen from here, or gives it to `take`.
   */
  forwardRemote(input: RemoteForwardInput): Promise<Forward>
  /** Resolves when the connection ends, however. */
  readonly closed: Promise<void>
}
