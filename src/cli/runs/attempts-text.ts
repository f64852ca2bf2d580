import type {RunAttempt} from '../../lib/protocol/index.ts'
import {describeCause} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'
import {duration} from '../terminal/render.ts'

/**
 * How each start of the group came about and ended, two lines each; empty where there was one and no node was lost in
 * it.
 */
export function attemptsText(attempts: RunAttempt[]): string {
  if (attempts.length < 2 && (attempts[0]?.lost ?? []).length === 0) return ''
  return attempts
    .map((one) => {
      const took =
        one.started === undefined || one.ended === undefined
          ? ''
          : ` after ${duration((one.ended - one.started) * 1000)}`
      const where = one.nodes === undefined ? '' : ` on ${one.nodes.join(', ')}`
      const from =
        one.checkpoint === undefined
          ? ''
          : one.checkpoint === null
            ? ', from the beginning'
            : `, from ${one.checkpoint.name} of ${one.checkpoint.node}`
      const how = `${paint.bold(`attempt ${one.attempt}`)}${where}${one.why === undefined ? '' : ` (${one.why})`}${from}: ${one.status}${took}`
      return one.cause ? `${how}\n  ${describeCause(one.cause)}` : how
    })
    .join('\n')
}
