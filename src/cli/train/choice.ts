import type {TrainChoice} from '../../lib/train/index.ts'
import {profileChoice} from './profile-steps.ts'

/** What the flags of `train` say, as trainFlags and profileFlags have them, and its own. */
export interface TrainWords {
  nodes?: string | undefined
  spares?: number | undefined
  'processes-per-node'?: number | undefined
  on?: string | undefined
  exclude?: string | undefined
  gpus?: number | undefined
  name?: string | undefined
  from?: string[] | undefined
  tracking: boolean
  scheduler?: 'ssh' | 'slurm' | undefined
  emit?: 'sbatch' | undefined
  exclusive?: boolean | undefined
  'share-gpus'?: boolean | undefined
  wait?: boolean | undefined
  timeout?: number | undefined
  profile: boolean
  'profile-steps'?: string | undefined
  'dry-run': boolean
  skip?: string | undefined
  force: boolean
}

/** What they ask for; what the manifest says is added by src/lib/train/wishes.ts. `args`: the words after `--`. Throws USAGE. */
export async function trainChoice(flags: TrainWords, args: string[]): Promise<TrainChoice> {
  const {parseSkip} = await import('../../lib/preflight/index.ts')
  return {
    nodes: flags.nodes,
    spares: flags.spares,
    processesPerNode: flags['processes-per-node'],
    on: flags.on,
    exclude: flags.exclude,
    gpus: flags.gpus,
    args,
    name: flags.name,
    tracking: flags.tracking && flags.emit === undefined,
    scheduler: flags.emit === undefined ? flags.scheduler : ('slurm' as const),
    exclusive: flags.exclusive,
    shareGpus: flags['share-gpus'],
    wait: flags.wait ? (flags.timeout ?? Infinity) : undefined,
    profile: profileChoice(flags),
    look: flags['dry-run'],
    preflight: {skip: parseSkip(flags.skip), force: flags.force},
  }
}
