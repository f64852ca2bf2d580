import {count} from '../../lib/base/index.ts'
import type {Repaired, Unsent} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'

/** What the tracking server has not taken of a run, for `runs show`; empty where it has all. */
export function unsentText(run: string, unsent: Unsent[]): string {
  if (unsent.length === 0) return ''
  return [
    paint.yellow('The tracking server has not taken everything; it is kept on the nodes.'),
    ...unsent.flatMap((one) => [
      `  ${one.node}: ${count(one.count, 'write')}`,
      ...one.writes
        .slice(-3)
        .map((write) =>
          paint.dim(
            `    ${write.call}: ${write.status === 0 ? '' : `HTTP status ${write.status}: `}${write.answer.trim().split('\n')[0]?.slice(0, 160)}`,
          ),
        ),
    ]),
    `  send it again: flexrack runs repair ${run}`,
  ].join('\n')
}

/** `runs repair`. */
export function repairedText({run, nodes}: Repaired): string {
  const sum = (of: 'sent' | 'pending'): number => nodes.reduce((all, one) => all + one[of], 0)
  if (nodes.length === 0) return `The tracking server has everything of ${run}.`
  const pending = sum('pending')
  return [
    `${count(sum('sent'), 'write')} of ${run} sent.`,
    ...(pending > 0
      ? [`${count(pending, 'write')} wait for the tracking server's answer: flexrack runs repair ${run}`]
      : []),
    unsentText(
      run,
      nodes.filter((one) => one.count > 0),
    ),
  ]
    .filter((line) => line !== '')
    .join('\n')
}
