import {CliError, stamped} from '../../base/index.ts'
import type {RunOrder} from '../../protocol/index.ts'
import {quote} from '../../ssh/index.ts'
import type {RunSpec, SlurmRequest} from '../types.ts'

/** Where the script finds what it starts; absolute paths on the file system that the job's nodes share. */
export interface SlurmPlaces {
  /** The run's folder. */
  folder: string
  /** Python of the run's environment. */
  python: string
  /** node/flexrack_node/slurm/step.py. */
  step: string
  /** flexrack's folder, and the project's in it: seen in a container at the same paths. */
  root: string
  code: string
  /**
   * Runs that are tasks of one job (sbatch(1), --array): their folders are `folder` with the task's number after it.
   */
  array?: string
}

/** The run has finished before: Slurm has started its job again all the same (slurm/step.py). */
const OVER = 64

/** Ends the JSON in the script; no line of JSON is equal to it, because its strings have no line breaks. */
const END = 'FLEXRACK_SPEC'

/** What a script brings that is submitted by hand: the job makes the rest. */
export type HandedOrder = Omit<RunOrder, 'gang' | 'created' | 'owner'>

/**
 * The script that is given to sbatch. Pure. One task a node runs flexrack's supervisor, which starts the ranks as it
 * does over SSH. `brings` is spec.json for a script that is submitted by hand; otherwise the run's folder has it, and
 * the script holds no secret.
 */
export function slurmScript(spec: RunSpec & {slurm: SlurmRequest}, places: SlurmPlaces, brings?: HandedOrder): string {
  // sbatch(1): how many of the range it got is told in the job.
  const nodes = spec.slurm.minNodes === undefined ? spec.slurm.nodes : '"$SLURM_JOB_NUM_NODES"'
  const python = `${quote([places.python])} -I -S "$step"`
  const folder = `${quote([places.folder])}${places.array === undefined ? '' : '"$SLURM_ARRAY_TASK_ID"'}`
  const prepare = `${python} prepare "$run"`
  return [
    '#!/bin/sh',
    ...[...directives(spec), ...(places.array === undefined ? [] : [`--array=${places.array}`])].map(
      (one) => `#SBATCH ${one}`,
    ),
    '',
    `run=${folder}`,
    `step=${quote([places.step])}`,
    ...(brings
      ? [`${prepare} <<'${END}'`, JSON.stringify(stamped('run.spec', brings)), END]
      : [`${prepare} </dev/null`]),
    `case $? in 0) ;; ${OVER}) exit 0 ;; *) exit 1 ;; esac`,
    '',
    '# A SIGTERM of Slurm is for the ranks, which may save their state; this shell waits for them.',
    'trap : TERM',
    `srun --nodes=${nodes} --ntasks=${nodes} --ntasks-per-node=1 --cpus-per-task=${spec.slurm.cpus} \\`,
    '  --export=ALL --mpi=none --kill-on-bad-exit=0 --wait=0 \\',
    ...containerOptions(spec, places).map((one) => `  ${quote([one])} \\`),
    `  ${spec.slurm.container ? 'python3 -I -S "$step"' : python} member "$run" </dev/null &`,
    'wait $!; status=$?',
    'while kill -0 $! 2>/dev/null; do wait $!; status=$?; done',
    'exit $status',
    '',
  ].join('\n')
}

/** Options that pyxis adds to srun (its README). The batch step itself runs outside: there are Slurm's programs. */
function containerOptions(
  {slurm: {container}, volumes}: Pick<RunSpec, 'volumes'> & {slurm: SlurmRequest},
  {root, code}: SlurmPlaces,
): string[] {
  if (!container) return []
  const bad = [root, code].find((path) => /[:,]/.test(path))
  if (bad !== undefined)
    throw new CliError('USAGE', `pyxis cannot mount ${bad}: the path has a colon or a comma`, {
      hint: 'set root: in the rack file to another folder',
    })
  const mounts = [...new Set([root, ...(`${code}/`.startsWith(`${root}/`) ? [] : [code])])].map(
    (path) => `${path}:${path}`,
  )
  const shared = volumes.map(({path, write}) => `${path}:${path}${write ? '' : ':ro'}`)
  return [
    `--container-image=${container.image}`,
    `--container-mounts=${[...mounts, ...shared, ...container.mounts].join(',')}`,
    `--container-workdir=${code}`,
  ]
}

/**
 * Options of sbatch(1), in a fixed order. Their values are checked where they are read: no blanks, quotes or line
 * breaks.
 */
export function directives({run, slurm}: {run: string; slurm: SlurmRequest}): string[] {
  const option = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`]
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
    // What a rank does twice by failing is started again within the job; this is for what Slurm takes from it:
    // preemption, a node.
    ...(slurm.requeue ? ['--requeue', '--open-mode=append'] : ['--no-requeue']),
    ...slurm.extra,
  ]
}
