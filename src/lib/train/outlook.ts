import {isCliError, type Context} from '../base/index.ts'
import {connectHead, type ClaimOutlook, type QuotaSum} from '../head/index.ts'
import {readOutlook} from '../quota/index.ts'
import {gpusOf} from './steps/reserve.ts'
import type {RunSpec, TrainPlace} from './types.ts'

/** Where there is no head, it is away, or it is of an older version, nobody says anything; the run itself tells of that. */
const UNTOLD = ['NOT_FOUND', 'NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT'] as const
const NOTHING: ClaimOutlook = {sums: [], room: []}

/** What the head would say to a run that is being planned: asked once, and only where somebody needs it. */
export class Outlook {
  readonly #spec: RunSpec
  readonly #place: TrainPlace
  readonly #context: Context
  #asked: Promise<ClaimOutlook> | undefined

  constructor(spec: RunSpec, place: TrainPlace, context: Context) {
    this.#spec = spec
    this.#place = place
    this.#context = context
  }

  /** Limits that count for it, and what it would come to. Errors: REFUSED. */
  async sums(): Promise<QuotaSum[]> {
    return (await this.#ask()).sums
  }

  /** Runs that would make room for it, in the order in which they would. Errors: REFUSED. */
  async room(): Promise<string[]> {
    return (await this.#ask()).room.map((one) => one.run)
  }

  #ask(): Promise<ClaimOutlook> {
    return (this.#asked ??= this.#read())
  }

  async #read(): Promise<ClaimOutlook> {
    const {manifest, rack, fleet} = this.#place
    const {tracked, project, priority = 0, timeLimit: limit = null} = this.#spec
    if (!tracked || manifest.tracking.uri !== undefined) return NOTHING
    try {
      const head = await connectHead(rack, fleet, this.#context)
      try {
        return await readOutlook(head, {project, priority, limit, gpus: gpusOf(this.#spec)})
      } finally {
        await head.close()
      }
    } catch (error) {
      if (isCliError(error, ...UNTOLD)) return NOTHING
      throw error
    }
  }
}
