import type {Cause, NodeRunStatus, SlurmState} from '../protocol/index.ts'
import type {TrackedRun} from '../tracking/index.ts'
import {stateOf, statusOf, type Doubt} from './leading.ts'
import type {FoundRun} from './types.ts'
import {RUN_TAG} from './records.ts'

/**
 * A run as `runs list` shows it: what the nodes know, with what the tracking server knows. Times in milliseconds since
 * 1970.
 */
export interface RunEntry {
  run: string
  project: string | null
  /** Who started it, as its record says. */
  user: string | null
  /** `unknown`: of those that answer nobody knows; see `doubt`. */
  status: NodeRunStatus | 'unknown'
  /**
   * Why the nodes that answer do not know how it ended; null where they do, while it goes on, and where no node has its
   * files.
   */
  doubt: Doubt | null
  nodes: string[]
  /**
   * The node that leads it now, or led it in the end: its first, unless that was lost and the others chose another.
   * Null where no node has its files.
   */
  leader: string | null
  /** Which leader that is, counted from 1. */
  term: number | null
  worldSize: number | null
  started: number | null
  ended: number | null
  attempt: number | null
  cause: Cause | null
  /** Nodes that were rebooted while it went on, as they say themselves; also where it goes on after that. */
  rebooted: string[]
  /** Last values. */
  metrics: Record<string, number>
  experiment: string | null
  trackedId: string | null
  /** The tracking server has everything. False: it is completed by the next `runs` command that reaches both. */
  recorded: boolean | null
  /** Files of the run are on the nodes. */
  onNodes: boolean
  /** The sweep that it is a trial of, as its record says. */
  sweep: string | null
  /** What Slurm says, where it placed the run. */
  slurm: SlurmState | null
}

const STATUS: Record<TrackedRun['status'], NodeRunStatus> = {
  RUNNING: 'running',
  SCHEDULED: 'starting',
  FINISHED: 'finished',
  FAILED: 'failed',
  KILLED: 'stopped',
}

/** One entry a run, newest first. Where both know it, the nodes' files are the truth about its state. Pure. */
export function mergeRuns(found: FoundRun[], tracked: TrackedRun[], options: {everyNodeQueried: boolean}): RunEntry[] {
  const entries = new Map<string, RunEntry>()
  for (const record of tracked) {
    const run = record.tags[RUN_TAG] as string
    const status = STATUS[record.status]
    entries.set(run, {
      run,
      project: record.tags['flexrack.project'] ?? null,
      user: record.user === '' ? null : record.user,
      // A record that says "running" of a run that no node has is wrong; nobody is left to correct it.
      status: status === 'running' && options.everyNodeQueried ? 'unknown' : status,
      doubt: null,
      nodes: record.tags['flexrack.nodes']?.split(',') ?? [],
      leader: null,
      term: null,
      worldSize: numberOf(record.tags['flexrack.world_size']),
      started: record.startTime,
      ended: record.endTime ?? null,
      attempt: numberOf(record.tags['flexrack.attempts']),
      cause: null,
      rebooted: [],
      metrics: Object.fromEntries(Object.values(record.metrics).map((metric) => [metric.key, metric.value])),
      experiment: record.experimentId,
      trackedId: record.id,
      recorded: status === 'running' ? null : true,
      onNodes: false,
      sweep: record.tags['flexrack.sweep'] ?? null,
      slurm: null,
    })
  }
  for (const one of found) {
    const state = stateOf(one)
    const known = entries.get(one.run)
    const {status, doubt} = statusOf(one)
    entries.set(one.run, {
      run: one.run,
      project: state.project,
      user: known?.user ?? null,
      status,
      doubt: doubt && {...doubt, message: `${doubt.message}${recordText(known)}`},
      nodes: state.nodes,
      leader: state.slurm ? (state.nodes[0] ?? null) : state.leader,
      term: state.term,
      worldSize: (state.slurm?.nodes ?? (state.members ?? state.nodes).length) * state.processes,
      started: (state.started ?? state.created) * 1000,
      ended: state.ended === null || doubt ? null : state.ended * 1000,
      attempt: state.attempt,
      cause: doubt ? null : state.cause,
      rebooted: one.nodes
        .filter(({cause, returned}) => cause?.lost === 'reboot' || (returned ?? 0) > 0)
        .map(({node}) => node),
      metrics: known?.metrics ?? {},
      experiment: known?.experiment ?? null,
      trackedId: state.tracked,
      recorded: state.tracked === null ? null : state.recorded,
      onNodes: true,
      sweep: known?.sweep ?? null,
      slurm: state.slurm ?? null,
    })
  }
  return [...entries.values()].sort((a, b) => (b.started ?? 0) - (a.started ?? 0))
}

/**
 * What the tracking server says beside nodes that do not know: its record may have been closed by who led the run, or
 * may not.
 */
function recordText(record: RunEntry | undefined): string {
  return record && ['finished', 'failed', 'stopped'].includes(record.status)
    ? `; its record at the tracking server says ${record.status}`
    : ''
}

function numberOf(text: string | undefined): number | null {
  const value = Number(text)
  return text === undefined || Number.isNaN(value) ? null : value
}
