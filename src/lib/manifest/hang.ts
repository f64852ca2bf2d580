import {z} from 'zod'
import {durationSeconds} from './duration.ts'

/** What happens when ranks stop making progress. */
export interface HangSpec {
  /** Seconds without progress. */
  after: number
  action: 'report' | 'restart' | 'stop'
}

const DEFAULT_AFTER = '5m'

/** The key train.hang. */
export const hang = z
  .strictObject({
    after: z
      .union([
        z.number().min(1).max(3600),
        z
          .string()
          .refine(
            (text) => (durationSeconds(text) ?? 0) >= 1,
            'must be a duration from 1s to an hour, such as 90s or 10m',
          ),
      ])
      .default(DEFAULT_AFTER)
      .describe(
        'A rank hangs when it makes no progress for this long, and for 10 times the duration of its last steps. Progress is a step of an optimizer, a batch, a collective operation, a logged metric or a line of output. ' +
          'Before the first step it is 6 times as long, and 3 times for a rank that computes or reads and writes files.',
      ),
    action: z
      .enum(['report', 'restart', 'stop'])
      .default('report')
      .describe(
        '`report`: name the rank that keeps the others waiting, and where it is; `restart`: also end the attempt, as after a failure (`train.restarts`); `stop`: end the run as failed.',
      ),
  })
  .optional()
  .describe(
    'When ranks count as hanging, and what follows. In any case flexrack takes the stacks of all ranks and names the one that keeps the others waiting.',
  )

/** The key train.watch. */
export const watch = z
  .boolean()
  .default(true)
  .describe(
    'Python ranks tell their steps, batches and collective operations by a hook in the interpreter (sitecustomize), without a change to the program. `false` leaves them alone; hangs, straggler reports and throughput are then not known.',
  )

/** With the duration in seconds. */
export function resolveHang(given: z.output<typeof hang>): HangSpec | undefined {
  if (!given) return undefined
  return {
    after: typeof given.after === 'number' ? given.after : (durationSeconds(given.after) ?? 0),
    action: given.action,
  }
}
