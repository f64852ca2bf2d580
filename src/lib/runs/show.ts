import type {Hang, NodeRunDetail, RankRecord, RunAttempt, RunUploaded} from '../protocol/index.ts'
import type {ArtifactEntry, Metric} from '../tracking/index.ts'
import type {Efficiency} from './efficiency.ts'
import type {RunEntry} from './list.ts'
import type {RunFigures} from './measured.ts'
import type {Unsent} from './repair.ts'

/** Everything there is to know about one run. */
export interface ShownRun extends RunEntry {
  command: string[]
  environment: string | null
  commit: string | null
  /**
   * What its ranks run, as it was when they started. More than one where nodes differed; none where no node has its
   * files, or it began before runs had a view.
   */
  code: RunCodeOf[]
  /** Data sets that it reads. */
  data: {name: string; digest: string}[]
  /** Copies to buckets, by node: of the last attempt, where it came so far. */
  uploads: ({node: string} & RunUploaded)[]
  params: Record<string, string>
  tags: Record<string, string>
  lastMetrics: Metric[]
  artifacts: ArtifactEntry[]
  attempts: RunAttempt[]
  /** Every rank of every attempt. */
  ranks: RankRecord[]
  /** What it did and used; null where no node has its files. */
  figures: RunFigures | null
  /** Against a run on one node; null where there are no figures. */
  scaling: Efficiency | null
  /** When ranks made no progress, oldest first. */
  hangs: Hang[]
  /** What its nodes hold that the tracking server has refused or failed at. */
  unsent: Unsent[]
  /** Folder of the run on each of its nodes. */
  folders: Record<string, string>
  /** Why the tracking server could not be asked; null where it could. */
  away: string | null
}

/** One content of a workspace, and the nodes whose ranks had it. */
export interface RunCodeOf {
  /** SHA-256 over paths, modes and contents. */
  digest: string
  files: number
  bytes: number
  nodes: string[]
  /**
   * The snapshot of exactly this in the history of the workspace on a node, by node; none where the node does not save
   * workspaces by itself.
   */
  snapshots: Record<string, string>
  /** Why a node could not save it. */
  unsaved: Record<string, string>
}

/** Which code the nodes had. Pure. */
export function codesOf(details: Pick<NodeRunDetail, 'node' | 'code'>[]): RunCodeOf[] {
  const found = new Map<string, RunCodeOf>()
  for (const {node, code} of details) {
    if (code?.digest === undefined) continue
    const one = found.get(code.digest) ?? {
      digest: code.digest,
      files: code.files ?? 0,
      bytes: code.bytes ?? 0,
      nodes: [],
      snapshots: {},
      unsaved: {},
    }
    one.nodes.push(node)
    if (code.snapshot !== undefined) one.snapshots[node] = code.snapshot
    if (code.unsaved !== undefined) one.unsaved[node] = code.unsaved
    found.set(code.digest, one)
  }
  return [...found.values()]
}

/** Ranks in order, of all attempts, with their attempt. */
export function ranksOf(details: NodeRunDetail[]): (RankRecord & {attempt: number})[] {
  return details
    .flatMap((detail) =>
      Object.entries(detail.records).flatMap(([attempt, records]) =>
        Object.values(records).map((record) => ({...record, attempt: Number(attempt)})),
      ),
    )
    .sort((a, b) => a.attempt - b.attempt || a.rank - b.rank)
}
