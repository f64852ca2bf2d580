import {isCliError, type Context} from '../base/index.ts'
import {connectHead, type ClaimOutlook} from '../head/index.ts'
import {readOutlook} from '../quota/index.ts'
import {gpusOf} from './steps/reserve.ts'
import type {RunSpec, TrainPlace} from './types.ts'

/** Where there is no head, it is away, or it is of an older version, nobody says anything; the run itself tells of that. */
const UNTOLD = ['NOT_FOUND', 'NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT'] as const
const NOTHING: ClaimOutlook = {sums: [], room: []}

/** What the head would say to a run that is being planned: asked once, and only where somebody needs it. Errors: REFUSED. */
export function outlookFor(spec: RunSpec, place: TrainPlace, context: Context): () => Promise<ClaimOutlook> {
  let asked: Promise<ClaimOutlook> | undefined
  return () => (asked ??= ask(spec, place, context))
}

async function ask(spec: RunSpec, {manifest, rack, fleet}: TrainPlace, context: Context): Promise<ClaimOutlook> {
  const {tracked, project, priority = 0, timeLimit: limit = null} = spec
  if (!tracked || manifest.tracking.uri !== undefined) return NOTHING
  try {
    const head = await connectHead(rack, fleet, context)
    try {
      return await readOutlook(head, {project, priority, limit, gpus: gpusOf(spec)})
    } finally {
      await head.close()
    }
  } catch (error) {
    if (isCliError(error, ...UNTOLD)) return NOTHING
    throw error
  }
}
