import {CliError, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Trial} from '../protocol/index.ts'
import {stopRun, type FoundRun, type Runs} from '../runs/index.ts'
import type {TrainPlace} from '../train/index.ts'
import type {Engine} from './engine.ts'

interface Finding {
  place: TrainPlace
  tracking: Tracking
  engine: Engine
  runs: Runs
}

/**
 * The runs of trials that an earlier command has left. What it was still starting is no run yet, and is started under
 * the same id.
 */
export async function findTrialRuns(
  trials: Trial[],
  {place, tracking, engine, runs: open}: Finding,
  context: Context,
): Promise<Map<string, FoundRun>> {
  const found = new Map<string, FoundRun>()
  if (trials.every((one) => one.run === null)) return found
  const {runs, failed} = await open.look()
  for (const trial of trials) {
    const run = runs.find((one) => one.run === trial.run)
    if (trial.run === null) continue
    if (!run && failed.size > 0)
      throw new CliError(
        'NODE_UNREACHABLE',
        `trial ${trial.number} may go on on ${[...failed.keys()].join(', ')}, which did not answer`,
        {details: {nodes: [...failed.keys()]}},
      )
    // The login node tells of a whole job of Slurm; else one that is not on all of its nodes was cut short, but for
    // those of which that is not known.
    if (
      run &&
      (run.nodes[0]?.slurm ||
        run.nodes[0]?.nodes.every((name) => failed.has(name) || run.nodes.some((one) => one.node === name)))
    ) {
      found.set(run.run, run)
      continue
    }
    if (run) {
      await stopRun(place, run, {kill: true}, context)
      Object.assign(trial, {attempt: await engine.drop(trial.number), run: null})
    }
    for (const one of await tracking.mlflow.searchRuns({
      experimentIds: [await experimentOf(tracking, place)],
      filter: `tags.\`flexrack.run\` = '${run?.run ?? trial.run}'`,
    }))
      await tracking.mlflow.deleteRun(one.id)
  }
  return found
}

async function experimentOf({mlflow}: Tracking, {manifest}: TrainPlace): Promise<string> {
  return (await mlflow.ensureExperiment(manifest.tracking.experiment)).id
}
