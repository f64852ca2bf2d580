import {count} from '../../lib/base/index.ts'
import type {SlurmState} from '../../lib/protocol/index.ts'
import type {TrainPlan} from '../../lib/train/index.ts'

/**
 * What Slurm says of a job: `job 17 is pending: BeginTime; expected to start at 2026-01-31 12:00:00; Slurm requeued it
 * because a job that comes first took its place`.
 */
export function queueText({
  job,
  state,
  reason,
  start,
  requeued,
}: Pick<SlurmState, 'job' | 'state' | 'reason' | 'start'> & Partial<Pick<SlurmState, 'requeued'>>): string {
  const isPending = state === 'PENDING'
  const expected = isPending && start !== null ? `; expected to start at ${localTime(start)}` : ''
  return `${job === null ? 'the job' : `job ${job}`} is ${(state ?? 'unknown').toLowerCase()}${reason ? `: ${reason}` : ''}${expected}${requeued ? `; ${requeuedText(requeued)}` : ''}`
}

/** `Slurm requeued it 2 times, last because a job that comes first took its place`. */
function requeuedText({times, why}: NonNullable<SlurmState['requeued']>): string {
  return `Slurm requeued it${times === 1 ? '' : ` ${times} times`}${why === null ? '' : `${times === 1 ? '' : ', last'} because ${why}`}`
}

/** The line `slurm` of a run: its job, and who says so. */
export function slurmLine(slurm: SlurmState): string {
  const source =
    slurm.source === 'records' ? 'Slurm has forgotten it; from the records of its nodes' : `says ${slurm.source}`
  const partition = slurm.partition ? `, partition ${slurm.partition}` : ''
  return slurm.state === null && slurm.job === null
    ? 'it was never submitted'
    : `${queueText(slurm)}${partition} (${source})`
}

/** Where a run is: its nodes, or how many Slurm was asked for. */
export function whereText({spec}: Pick<TrainPlan, 'spec'>): string {
  return spec.slurm
    ? `${count(spec.slurm.nodes, 'node')} of Slurm's choice`
    : spec.placements.map((one) => one.node.name).join(', ')
}

/** By the clock and in the time zone of this machine. */
function localTime(seconds: number): string {
  const at = new Date(seconds * 1000)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}
