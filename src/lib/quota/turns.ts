import {CliError, isCliError, type Context} from '../base/index.ts'
import type {ClaimAnswer, ClaimWish, HeadConnection} from '../head/index.ts'
import type {ClaimPart} from '../protocol/index.ts'
import type {Turns} from '../reservation/index.ts'

const PATH = '/flexrack/v1/claims'
/** The head counts with a word every three minutes. */
const RENEW_MS = 60_000

/** The head's word while a run is being reserved, and the claim until the run's own token carries it on. */
export interface RunTurns extends Turns {
  /** The run has it, or nobody needs it any more. */
  close(): void
  /** Gives it back. */
  release(): Promise<void>
}

/**
 * Without quotas the head is asked by who has to wait, and by nobody else. A head that does not answer, or is of an older
 * version, decides nothing: then the nodes' own line counts.
 */
export function openTurns(
  head: Pick<HeadConnection, 'request' | 'quotas'>,
  wish: Pick<ClaimWish, 'run' | 'project' | 'priority' | 'limit' | 'preemptible'> & {gpus(parts: ClaimPart[]): number},
  wait: boolean,
  context: Context,
): RunTurns {
  let timer: NodeJS.Timeout | undefined
  let isAsked = false
  let isSilent = false
  const path = `${PATH}/${encodeURIComponent(wish.run)}`
  const ask = async (
    more: Pick<ClaimWish, 'parts' | 'seen'>,
  ): Promise<{go: boolean; passes: string[]; why: string | null}> => {
    try {
      isAsked = true
      const answer = await head.request<ClaimAnswer>('POST', PATH, {
        ...wish,
        ...more,
        gpus: wish.gpus(more.parts),
        wait,
      } satisfies ClaimWish)
      timer ??= setInterval(() => void head.request('PATCH', path).catch(() => {}), RENEW_MS).unref()
      for (const {soft, text} of answer.over)
        if (soft && answer.state === 'held') context.reporter.warn(`over a soft quota: ${text}`)
      return {go: answer.state === 'held', passes: answer.passes, why: answer.why}
    } catch (error) {
      if (isCliError(error, 'QUOTA'))
        throw new CliError('QUOTA', error.message, {
          hint: 'flexrack quota list\nflexrack train --wait',
          details: error.details,
        })
      if (!isCliError(error, 'NOT_FOUND', 'NODE_UNREACHABLE', 'HEAD_FAILED', 'TIMED_OUT')) throw error
      if (!isSilent) context.reporter.warn(`${error.message}: the nodes' own line decides whose turn it is`)
      isSilent = true
      return {go: true, passes: [], why: null}
    }
  }
  const close = (): void => clearInterval(timer)
  return {
    granted: async (parts) => (head.quotas ? ask({parts}) : {go: true, why: null}),
    turn: (parts, seen) => ask({parts, seen}),
    close,
    async release() {
      close()
      if (isAsked) await head.request('DELETE', path).catch(() => {})
    },
  }
}
