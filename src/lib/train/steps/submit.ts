import type {NodeRun} from '../../protocol/index.ts'
import {filledSpec} from '../env.ts'
import {launcherWord} from '../launcher.ts'
import type {SlurmPart, SpecTemplate} from '../spec.ts'
import type {RunSpec, SlurmRequest} from '../types.ts'
import type {Done, SubmitInput, TrainEnv, TrainStep} from './types.ts'

/** Pure. `template`: spec.json, which the login node writes beside the script. */
export function submitStep(
  run: RunSpec & {slurm: SlurmRequest},
  script: string,
  template: SpecTemplate<SlurmPart>,
): TrainStep {
  const {nodes, minNodes} = run.slurm
  const most = minNodes === undefined ? '' : `${minNodes} to `
  const ranks = run.worldSize === 1 ? '1 rank' : `${most === '' ? '' : 'up to '}${run.worldSize} ranks`
  const what = `${nodes === 1 ? '1 node' : `${most}${nodes} nodes`}, ${ranks}`
  const input: SubmitInput = {ranks: run.placements[0]?.ranks ?? [], slurm: run.slurm, script, spec: template}
  return {
    id: `submit:${template.node}`,
    node: template.node,
    kind: 'train.submit',
    title: `Submit to Slurm (${what}): ${launcherWord(run.launcher)}${run.command.join(' ')}`,
    input,
    needs: [],
  }
}

export async function submit({spec, script}: SubmitInput, done: Done, env: TrainEnv): Promise<NodeRun> {
  return (await env.host(spec.node)).call(
    'slurm.submit',
    {spec: filledSpec(spec, done, env), script},
    {signal: env.context.kill},
  )
}
