import {quote} from '../ssh/index.ts'
import type {RunSpec, SlurmRequest} from './types.ts'

/** Where the script finds what it starts; absolute paths on the file system that the job's nodes share. */
export interface SlurmPlaces {
  /** The run's folder. */
  folder: string
  /** Python of the run's environment. */
  python: string
  /** node/flexrack_node/slurm_step.py. */
  step: string
}

/** Ends the JSON in the script; no line of JSON is equal to it, because its strings have no line breaks. */
const END = 'FLEXRACK_SPEC'

/**
 * The script that is given to sbatch. Pure. One task a node runs flexrack's supervisor, which starts the ranks as it does over SSH.
 * `brings` is spec.json for a script that is submitted by hand; otherwise the run's folder has it, and the script holds no secret.
 *
 * For an array nothing but `directives` and the folder change: `--array=0-9`, and a folder that ends in $SLURM_ARRAY_TASK_ID.
 */
export function slurmScript(spec: RunSpec & {slurm: SlurmRequest}, places: SlurmPlaces, brings?: Record<string, unknown>): string {
  // sbatch(1): how many of the range it got is told in the job.
  const nodes = spec.slurm.minNodes === undefined ? spec.slurm.nodes : '"$SLURM_JOB_NUM_NODES"'
  const python = `${quote([places.python])} -I -S "$step"`
  const prepare = `${python} prepare "$run"`
  return [
    '#!/bin/sh',
    ...directives(spec).map((one) => `#SBATCH ${one}`),
    '',
    `run=${quote([places.folder])}`,
    `step=${quote([places.step])}`,
    ...(brings ? [`${prepare} <<'${END}' || exit 1`, JSON.stringify(brings), END] : [`${prepare} </dev/null || exit 1`]),
    '',
    '# A SIGTERM of Slurm is for the ranks, which may save their state; this shell waits for them.',
    'trap : TERM',
    `srun --nodes=${nodes} --ntasks=${nodes} --ntasks-per-node=1 --cpus-per-task=${spec.slurm.cpus} \\`,
    '  --export=ALL --mpi=none --kill-on-bad-exit=0 --wait=0 \\',
    `  ${python} member "$run" </dev/null &`,
    'wait $!; status=$?',
    'while kill -0 $! 2>/dev/null; do wait $!; status=$?; done',
    'exit $status',
    '',
  ].join('\n')
}

/** Options of sbatch(1), in a fixed order. Their values are checked where they are read: no blanks, quotes or line breaks. */
export function directives({run, slurm}: {run: string; slurm: SlurmRequest}): string[] {
  const option = (name: string, value: string | number | undefined): string[] => (value === undefined ? [] : [`--${name}=${value}`])
  return [
    ...option('job-name', run),
    ...option('nodes', slurm.minNodes === undefined ? slurm.nodes : `${slurm.minNodes}-${slurm.nodes}`),
    '--ntasks-per-node=1',
    ...option('cpus-per-task', slurm.cpus),
    ...option('gres', slurm.gpus && `gpu:${slurm.gpus}`),
    ...option('mem', slurm.memory),
    ...option('time', slurm.time),
    ...option('partition', slurm.partition),
    ...option('account', slurm.account),
    ...option('qos', slurm.qos),
    ...option('constraint', slurm.constraint),
    ...(slurm.exclusive ? ['--exclusive'] : []),
    // A job that starts anew would meet its own traces; the gang's restarts happen within the job.
    '--no-requeue',
    ...slurm.extra,
  ]
}
