import {rm} from 'node:fs/promises'
import {CliError, count, type Context} from '../../lib/base/index.ts'
import {compareWith, planReproduction, type ComparedAgain, type Difference} from '../../lib/lineage/index.ts'
import type {Plan} from '../../lib/plan/index.ts'
import {confirm} from '../base/prompt.ts'
import type {Session} from '../base/session.ts'
import {planText} from '../terminal/render.ts'
import {showTraining, throwUnfinished} from '../train/run.ts'
import {endWorkspaces} from '../workspace/end.ts'
import {openEvidence} from './open.ts'
import {differencesText, reproducedText} from './reproduced-text.ts'

export interface ReproduceInput {
  run: string
  on: string | undefined
  tolerance: number
  metrics: string[] | undefined
  keep: boolean
  yes: boolean
  dryRun: boolean
  json: boolean
  watchEvery: string | undefined
}

/** A run that was made again, beside the one that it was made from. */
export interface Reproduced extends ComparedAgain {
  run: string
  again: string
  /** What was not as it was before it began. */
  differences: Difference[]
  /** Where the code is; null: it was removed again. */
  folder: string | null
}

/** Says what differs, asks, trains in a workspace of its own, and compares. Errors: those of train. */
export async function reproduce(
  input: ReproduceInput,
  session: Session,
  context: Context,
  answer: <T>(value: T, text: (value: T) => string) => T,
): Promise<Plan | Reproduced> {
  const evidence = await openEvidence(session, context)
  const found = await planReproduction(input.run, evidence, {on: input.on}, context)
  const {run} = found.was.record
  const remove = (): Promise<void> => rm(found.folder, {recursive: true, force: true})
  try {
    if (input.dryRun) {
      context.reporter.note(differencesText(found.differences))
      return answer(found.train.plan, planText)
    }
    context.reporter.note(differencesText(found.differences))
    const what = `Run ${found.was.record.command.join(' ')} again on ${count(found.train.spec.placements.length, 'node')}?`
    if (!input.yes && !(await confirm({message: what, flag: '--yes'}, context)))
      throw new CliError('INTERRUPTED', 'nothing was changed')
    const watch = {watchEvery: input.watchEvery, json: input.json, detach: false}
    const trained = await showTraining(found.train, found.place, watch, context)
    throwUnfinished(trained)
    if (trained.trackedId === null) throw new CliError('BUG', 'a run that is made again is tracked')
    const how = {tolerance: input.tolerance, metrics: input.metrics}
    const compared = await compareWith(found, trained.trackedId, how, evidence.mlflow)
    if (compared.verdict === 'differs') process.exitCode = 1
    return answer(
      {run, again: trained.run, differences: found.differences, folder: input.keep ? found.folder : null, ...compared},
      reproducedText,
    )
  } finally {
    if (!input.keep) {
      await remove()
      if (!input.dryRun) await removeWorkspace(found.place.manifest.name, session, context)
    }
  }
}

/** The one that was made for it: runs keep what they have. What is left is told, and no failure. */
async function removeWorkspace(project: string, session: Session, context: Context): Promise<void> {
  const flags = {
    named: project,
    on: undefined,
    remove: true,
    environments: false,
    history: true,
    grace: 10,
    dryRun: false,
    yes: true,
  }
  try {
    await endWorkspaces(flags, session, context, (value) => value)
  } catch (error) {
    context.reporter.warn(
      `workspace ${project} is still there (flexrack workspace remove ${project}): ${(error as Error).message}`,
    )
  }
}
