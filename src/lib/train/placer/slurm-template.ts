import type {Host} from '../../host/index.ts'
import {fromEnv} from '../../plan/index.ts'
import type {Workspace} from '../../workspace/index.ts'
import {specTemplate, type SlurmPart, type SpecTemplate} from '../spec.ts'
import type {RunSpec, SlurmRequest} from '../types.ts'
import type {SlurmPlaces} from './slurm-script.ts'

export type SlurmSpecified = RunSpec & {slurm: SlurmRequest}

/** spec.json of a run that Slurm places, as its login node gets it. Pure. */
export function slurmTemplate(
  spec: SlurmSpecified,
  node: string,
  workspace: Workspace | undefined,
): SpecTemplate<SlurmPart> {
  const {nodes, requeue, interface: link, bin, container} = spec.slurm
  const part: SlurmPart = {
    scheduler: 'slurm',
    slurm: {
      nodes,
      ...(requeue && {requeue}),
      ...(link !== undefined && {interface: link}),
      ...(bin !== undefined && {bin}),
    },
    gang: {secret: fromEnv('secret')},
    ...(container && {container: container.image}),
  }
  return specTemplate(spec, {node, index: 0, nodes: [], workspace, inContainer: container !== undefined}, part)
}

/** Where the run's script finds what it starts. */
export function placesOf(
  host: Pick<Host, 'root' | 'program'>,
  workspace: Workspace | undefined,
  run: string,
): SlurmPlaces {
  // The Python of an image is not there outside of it, where the job's steps begin.
  const python = workspace?.image ? 'python3' : `${workspace?.environment?.path}/bin/python`
  return {
    folder: `${host.root}/runs/${run}`,
    python,
    step: `${host.program}/slurm/step.py`,
    root: host.root,
    code: workspace?.codePath ?? host.root,
  }
}
