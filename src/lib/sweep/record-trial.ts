import {isCliError, type Context} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {FoundRun} from '../runs/index.ts'
import type {TrialEnd} from './trial.ts'

/** The record of the run says what it was, with the parameters that the script itself has not logged. */
export async function recordTrial(
  {mlflow}: Tracking,
  trial: Trial,
  run: FoundRun,
  end: TrialEnd,
  context: Context,
): Promise<void> {
  const id = run.nodes.find((one) => one.tracked !== null)?.tracked
  if (!id) return
  try {
    const {params} = await mlflow.getRun(id)
    const missing = Object.fromEntries(Object.entries(trial.texts).filter(([name]) => params[name] === undefined))
    await mlflow.logBatch(id, {params: missing, tags: {'flexrack.sweep.state': end.state}})
  } catch (error) {
    if (!isCliError(error)) throw error
    context.reporter.warn(`the parameters of ${run.run} were not recorded: ${error.message}`)
  }
}
