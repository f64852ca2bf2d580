import type {Context} from '../base/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {FoundRun} from '../runs/index.ts'
import {SLURM} from '../train/index.ts'
import {choiceOf, placeOfTrials, type Driving} from './driving.ts'
import {trialRun} from './words.ts'

/**
 * Whether no trial depends on what another one brought, so that all of them may stand in Slurm's queue from the start,
 * as tasks of one job. Pure.
 */
export function isArray({sampler, pruner, time}: Pick<SweepSpec, 'sampler' | 'pruner' | 'time'>): boolean {
  return ['grid', 'random', 'qmc'].includes(sampler) && pruner.name === 'none' && time === undefined
}

/** Those of the trials that have no run yet. */
export function freshOnes(trials: Trial[], found: ReadonlyMap<string, FoundRun>): Trial[] {
  return trials.filter((one) => one.attempt === 1 && (one.run === null || !found.has(one.run)))
}

/** All of these trials into Slurm's queue, as tasks of one job. Each has the name of its run afterwards. */
export async function startArray(driving: Driving, trials: Trial[], context: Context): Promise<FoundRun[]> {
  const {
    input: {sweep, parallel, slurm},
    engine,
    shared,
  } = driving
  if (!slurm) return []
  for (const one of trials) await engine.bind(one.number, (one.run = trialRun(sweep, one.number, 1)))
  const tasks = trials.map((one) => ({task: one.number, choice: choiceOf(driving, one, one.run as string, undefined)}))
  return SLURM.startArray(slurm, placeOfTrials(driving), {name: sweep, parallel, shared, tasks}, context)
}
