import type {Rack} from '../rack/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import {recordAt, type Records} from './records.ts'
import type {FoundRun} from './types.ts'

/**
 * Between a run's record and its start on the nodes there are seconds; whatever takes longer was given up.
 * Milliseconds.
 */
const STARTING_MS = 600_000

/**
 * Ends the records of runs that never came to start, because the command that had created them was killed: no node
 * knows them, all of their nodes were asked, and nobody else is left to say so. The given records are changed along.
 */
export async function closeNeverStarted(
  rack: Rack,
  found: FoundRun[],
  records: Records,
  tracked: TrackedRun[],
  unasked: ReadonlyMap<string, unknown>,
): Promise<void> {
  const known = new Set(found.map((one) => one.run))
  for (const record of tracked) {
    if (!records.tracking || !wasNeverStarted(record, rack, known, unasked)) continue
    const endTime = record.startTime
    try {
      const {mlflow} = await recordAt(records.tracking, record.id)
      await mlflow.setTag(record.id, 'flexrack.cause', 'it was never started: the command that was starting it ended')
      await mlflow.updateRun(record.id, {status: 'FAILED', endTime})
      Object.assign(record, {status: 'FAILED', endTime})
    } catch {
      continue // the next command tries again
    }
  }
}

function wasNeverStarted(
  record: TrackedRun,
  rack: Rack,
  known: ReadonlySet<string>,
  unasked: ReadonlyMap<string, unknown>,
): boolean {
  const nodes = record.tags['flexrack.nodes']?.split(',') ?? []
  const isOurs =
    record.tags['flexrack.rack'] === rack.name &&
    nodes.length > 0 &&
    nodes.every((node) => rack.nodes.some((one) => one.name === node) && !unasked.has(node))
  return (
    isOurs &&
    record.status === 'RUNNING' &&
    !known.has(record.tags['flexrack.run'] ?? '') &&
    Date.now() - record.startTime > STARTING_MS
  )
}
