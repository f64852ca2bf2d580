import type {ArtifactEntry, Metric} from '../tracking/index.ts'
import type {RunEntry} from './list.ts'
import type {NodeRunDetail, RankRecord, RunAttempt} from './types.ts'

/** Everything there is to know about one run. */
export interface ShownRun extends RunEntry {
  command: string[]
  environment: string | null
  commit: string | null
  params: Record<string, string>
  tags: Record<string, string>
  lastMetrics: Metric[]
  artifacts: ArtifactEntry[]
  attempts: RunAttempt[]
  /** Every rank of every attempt. */
  ranks: RankRecord[]
  /** Folder of the run on each of its nodes. */
  folders: Record<string, string>
  /** Why the tracking server could not be asked; null where it could. */
  away: string | null
}

/** Ranks in order, of all attempts, with their attempt. */
export function ranksOf(details: NodeRunDetail[]): (RankRecord & {attempt: number})[] {
  return details
    .flatMap((detail) => Object.entries(detail.records).flatMap(([attempt, records]) => Object.values(records).map((record) => ({...record, attempt: Number(attempt)}))))
    .sort((a, b) => a.attempt - b.attempt || a.rank - b.rank)
}
