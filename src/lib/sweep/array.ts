import type {SweepSpec} from '../manifest/index.ts'

/** Whether no trial depends on what another one brought, so that all of them may stand in Slurm's queue from the start, as tasks of one job. Pure. */
export function isArray({sampler, pruner, time}: Pick<SweepSpec, 'sampler' | 'pruner' | 'time'>): boolean {
  return ['grid', 'random', 'qmc'].includes(sampler) && pruner.name === 'none' && time === undefined
}
