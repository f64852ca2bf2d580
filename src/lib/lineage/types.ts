import type {Attested} from '../attest/index.ts'
import type {RunRecord} from '../protocol/index.ts'
import type {ModelVersion, TrackedRun} from '../tracking/index.ts'

/** Whether what an arrow says was found to be so. */
export interface ArrowCheck {
  holds: boolean
  /** What was found, one sentence. */
  why: string
}

/** Something that is served, was made, or went into it; what it came from follows. */
export interface WhyNode {
  kind: 'endpoint' | 'release' | 'model' | 'run' | 'code' | 'environment' | 'data' | 'image' | 'parent' | 'signature'
  name: string
  /** For people: what is known of it, in order. */
  facts: [name: string, value: string][]
  /** Of the arrow that leads here; without --verify only what needs no hashing. */
  check?: ArrowCheck
  from: WhyNode[]
}

export interface Why {
  asked: string
  verified: boolean
  tree: WhyNode
  /** The first arrow that does not hold, from what is served backwards: `model digits/3 -> run digits-k3x9a`. */
  broken: {arrow: string; why: string} | null
}

/** A release as its endpoint tells of it. */
export interface ServedRelease {
  id: string
  model: {
    name: string
    version: string
    files: {path: string; bytes: number; sha256: string}[]
    runId?: string
    record?: string
  }
  by: string
  createdAt: string
  runtime: string
  nodes: string[]
}

/** A run's record as it was found at the tracking server. */
export interface FoundRecord {
  /** SHA-256 of its bytes. */
  sha256: string
  record: RunRecord
}

/**
 * Where a walk looks. What is not there is undefined; what cannot be asked throws. Values are not believed: they are
 * held against each other.
 */
export interface Evidence {
  release(endpoint: string): Promise<ServedRelease | undefined>
  /** Of each node that serves it, whether the model's files are there as the release says. Reads them. */
  served(endpoint: string): Promise<{node: string; whole: boolean}[]>
  version(
    name: string,
    version: string | undefined,
    fits?: (found: ModelVersion) => boolean,
  ): Promise<ModelVersion | undefined>
  /** SHA-256 by path of a version's files in the store; of one file, its own name. Reads them. */
  versionFiles(version: ModelVersion): Promise<Map<string, string>>
  /** By the tracking server's id, or flexrack's. */
  run(name: string): Promise<TrackedRun | undefined>
  /** A small file of a run's artifacts. */
  artifact(run: TrackedRun, path: string, most: number): Promise<Buffer | undefined>
  /** What somebody has signed of a version. Errors: CHECK_FAILED for what is no statement. */
  attested(version: ModelVersion): Promise<Attested | undefined>
  /** What is wrong with a version of a data set; undefined: nothing. Reads it. */
  data(name: string, digest: string): Promise<string | undefined>
  /** What is wrong with an image; undefined: nothing. */
  image(digest: string, nodes: string[]): Promise<string | undefined>
}
