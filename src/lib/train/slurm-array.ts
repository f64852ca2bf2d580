import {throwIfInterrupted, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Host} from '../host/index.ts'
import type {FoundRun, NodeRun} from '../runs/index.ts'
import type {TrainPlace} from './plan.ts'
import {requestRun} from './place.ts'
import {sharedWorkspaces} from './shared-workspaces.ts'
import {slurmScript} from './slurm-script.ts'
import {placesOf, startedSpec, type SlurmSpecified} from './slurm-spec.ts'
import {createRecord, revokeToken, type TrackedStart} from './track.ts'
import type {SharedStart, TrainChoice} from './types.ts'

/** Runs that are tasks of one job of Slurm: see sbatch(1), --array. */
export interface SlurmArray {
  /** The job's; a run's id is this, a dash and its task. */
  name: string
  /** Tasks that Slurm runs at the same time at most. */
  parallel: number
  shared: SharedStart
  tasks: {task: number; choice: TrainChoice}[]
}

/** Records that are made at the same time. */
const AT_ONCE = 8

/**
 * Starts runs as tasks of one job; those whose number Slurm allows (`below`), which may be none. They differ in their spec.json alone. Errors: those of requestRun;
 * REFUSED by Slurm, CONFLICT where such a run is there, and then there are none; INTERRUPTED.
 */
export async function startArray({host, below}: {host: Host; below: number}, place: TrainPlace, {name, parallel, shared, tasks}: SlurmArray, context: Context): Promise<FoundRun[]> {
  const own = tasks.filter(({task}) => task < below)
  const specs = own.map(({choice}) => requestRun(place.manifest, place.rack, choice) as SlurmSpecified)
  const [first] = specs
  if (!first) return []
  const workspaces = sharedWorkspaces(shared)
  const environment = workspaces.workspaces.get(host.node)?.environment?.hash
  const records: TrackedStart[] = []
  try {
    for (let at = 0; at < specs.length; at += AT_ONCE) {
      throwIfInterrupted(context.signal)
      const some = specs.slice(at, at + AT_ONCE).map((spec, index) => createRecord(shared.tracking, spec, {folder: place.manifest.folder, rack: place.rack.name, environment, shared: own[at + index]?.choice.shared}, context))
      records.push(...(await Promise.all(some)))
    }
    const full = specs.map((spec, index) => {
      const made = startedSpec(spec, host.node, workspaces, records[index], context)
      return {...made, slurm: {...(made.slurm as object), array: {name, task: own[index]?.task}}}
    })
    const script = slurmScript({...first, run: name}, {...placesOf(host, workspaces, `${name}-`), array: `${ranges(own.map(({task}) => task))}%${parallel}`})
    const started = await host.call<NodeRun[]>('slurm.submit_array', {name, tasks: full, script}, {signal: context.kill})
    return started.map((one) => ({run: one.run, nodes: [one]}))
  } catch (error) {
    await Promise.all(records.map((record) => abandon(shared.tracking, record)))
    throw error
  }
}

/** `0-3,7`, as --array takes it; in ascending order. Pure. */
export function ranges(numbers: number[]): string {
  const sorted = numbers.toSorted((a, b) => a - b)
  const parts: [first: number, last: number][] = []
  for (const number of sorted) {
    const last = parts.at(-1)
    if (last && last[1] + 1 === number) last[1] = number
    else parts.push([number, number])
  }
  return parts.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(',')
}

/** Of a run that never came to start. */
async function abandon(tracking: Tracking, record: TrackedStart): Promise<void> {
  await revokeToken(tracking, record).catch(() => {})
  await tracking.mlflow.updateRun(record.runId, {status: 'FAILED', endTime: Date.now()}).catch(() => {})
}
