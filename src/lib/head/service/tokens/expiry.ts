import {readMlflow, type MlflowPlace} from '../tracking/mlflow-reader.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'
import {placeOf} from '../people/workspaces.ts'
import type {Tokens} from './tokens.ts'

const LOOK_MS = 600_000
/** After the end of a run its nodes may still send what they kept; what comes later is sent with the admin token. */
const AFTER_END_MS = 3_600_000

/**
 * What is asked about a run: when it ended (milliseconds), 'open' while it goes on, 'gone' where there is none (any
 * more).
 */
export type EndOf = (runId: string, project?: string) => Promise<number | 'open' | 'gone' | undefined>

/**
 * Revokes the tokens of runs that have ended a while ago. Runs give theirs back themselves; this is for those whose
 * nodes and command line were killed before they could. Returns how many.
 */
export async function revokeEnded(tokens: Tokens, endOf: EndOf): Promise<number> {
  let count = 0
  for (const {id, runId, project} of tokens.runs()) {
    const end = await endOf(runId, project)
    if (end === undefined || end === 'open' || (end !== 'gone' && Date.now() - end < AFTER_END_MS)) continue
    await tokens.revoke(id).then(
      () => count++,
      () => {},
    ) // it was given back in the meantime
  }
  return count
}

/** Does so from time to time. Returns how to end that. */
export function watchTokens(parts: Parts): () => void {
  const timer = setInterval(() => {
    if (!parts.mlflow.isReady) return
    revokeEnded(parts.tokens, (runId, project) => readEnd(placeOf(parts, project), runId)).then(
      (count) => count > 0 && logLine(`${count} tokens of runs that have ended were revoked`),
      (error: Error) => logLine(`tokens were not looked through: ${error.message}`),
    )
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Undefined where MLflow does not say: then the token stays. */
async function readEnd(place: MlflowPlace, runId: string): ReturnType<EndOf> {
  const {status, text} = await readMlflow(place, `/api/2.0/mlflow/runs/get?run_id=${encodeURIComponent(runId)}`)
  if (status === 404) return 'gone'
  if (status !== 200) return undefined
  const {info} = (JSON.parse(text) as {run: {info: {status: string; end_time?: number}}}).run
  return ['FINISHED', 'FAILED', 'KILLED'].includes(info.status) ? Number(info.end_time ?? 0) : 'open'
}
