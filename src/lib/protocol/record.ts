// The record of a run: everything that it came from, by content. The leader's node keeps it, and the tracking server has the same bytes. Times in seconds since 1970, by the node's clock. Generated from protocol/record.json by `npm run protocol`.
import type {Launcher, RunData, RunInput, RunOrigin} from './order.ts'

/** A node as a run found it. */
export interface NodeHere {
  node: string
  /** Digest of its view of the code. */
  code: string | null
  kernel: string
  /** x86_64 and the like. */
  machine: string
  /** Of the environment. */
  python: string | null
  cpu: string | null
  cpus: number
  /** NVIDIA's kernel module. */
  driver: string | null
  /** Those of its ranks: UUIDs, or `GPU0 of gpu2`. */
  gpus?: string[]
}

/** Contents of the code: a tar of the tree, deflated. */
export interface CodePack {
  sha256: string
  bytes: number
  files: number
}

export type LeftOut = [string, string]

export interface RecordedCode {
  /** SHA-256 over paths, modes and contents: the leader's view. */
  digest: string
  files: number
  bytes: number
  commit: string | null
  /** Null: none could be made; left_out says why. */
  pack: CodePack | null
  left_out: LeftOut[]
}

export interface RecordedEnvironment {
  hash: string
  python: string | null
  /** SHA-256 of environment.txt, which names each package with its version. */
  lock: string
  packages: number
}

export interface RecordedAttempt {
  attempt: number
  status: 'finished' | 'failed' | 'stopped'
  why: string
  nodes: string[]
  /** The one that it began with. */
  checkpoint: string | null
}

export interface RecordedOutput {
  path: string
  sha256: string
  bytes: number
}

export interface RunRecord {
  run: string
  project: string
  status: 'running' | 'finished' | 'failed' | 'stopped'
  started: number
  ended: number | null
  /** Who started it. */
  user: string
  origin: RunOrigin | null
  /** Hash of the node program. */
  program: string
  command: string[]
  launcher: Launcher
  /** Ranks a node. */
  processes: number
  /** In the order of the gang; of one that never answered there is only its name, and it is not here. */
  nodes: NodeHere[]
  /** Names of the variables that the manifest and the command set. Values may be secrets, and are not here. */
  env: string[]
  /** By name, as text: arguments and variables that are called a seed. */
  seeds: Record<string, string>
  code: RecordedCode | null
  environment: RecordedEnvironment | null
  data: RunData[]
  /** Digest of the image that its ranks ran in, or the name that Slurm was given. */
  image: string | null
  /** From buckets: these have no digest. */
  inputs: RunInput[]
  attempts: RecordedAttempt[]
  outputs: RecordedOutput[]
  /** Id of the tracking server's run. */
  tracked: string | null
}

/** What a run's view of its code is made of, by path. Kinds as the digest has them: file, executable, link. */
export interface CodeTree {
  entries: ([string, 'file' | 'executable' | 'link', string])[]
}
