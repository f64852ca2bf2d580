import type {Hang} from '../../lib/protocol/index.ts'
import type {RunStacks} from '../../lib/runs/index.ts'
import {paint} from '../terminal/print.ts'
import {duration} from '../terminal/render.ts'

/** What is told at once when ranks hang. */
export function hangText(hang: Pick<Hang, 'message' | 'seconds' | 'lines'>): string {
  return [
    `no progress for ${duration(hang.seconds * 1000)}: ${hang.message}`,
    ...hang.lines.map((line) => `  ${line}`),
  ].join('\n')
}

/** The part of `runs show` about hangs; empty where there were none. */
export function hangsText(hangs: Hang[]): string {
  if (hangs.length === 0) return ''
  const one = (hang: Hang): string =>
    `${paint.yellow('hang')} ${new Date(hang.at * 1000).toISOString()}, attempt ${hang.attempt}: ${hangText(hang)}`
  return hangs.map(one).join('\n')
}

/** `runs stacks`: what each rank is at, then every stack once, with the ranks that are there. */
export function stacksText({run, attempt, ranks, groups, failed}: RunStacks): string {
  const lines = ranks.map((one) => {
    const {progress} = one
    const parts = [
      `${paint.bold(`rank ${one.rank}`)} on ${one.node}, pid ${one.pid}`,
      STATES[one.state] ?? one.state,
      `${Math.round(one.cpu * 100)} % CPU`,
      ...(progress ? [`step ${progress.steps}`] : []),
      ...(progress?.collective
        ? [`in ${progress.collective} #${progress.collectives}`]
        : progress?.data_since
          ? ['in data loading']
          : []),
    ]
    return (
      parts.join(', ') +
      (one.note
        ? `\n  ${paint.dim(one.note)}`
        : one.threads.length === 0 && one.kernel.wchan
          ? `\n  ${paint.dim(`waits in the kernel: ${one.kernel.wchan}`)}`
          : '')
    )
  })
  const stacks = groups
    .filter((group) => group.frames.length > 0)
    .map((group) =>
      [
        paint.cyan(`${group.ranks.length === 1 ? 'rank' : 'ranks'} ${group.ranks.join(', ')}, innermost first`),
        ...group.frames.map((frame) => `  ${frame.function} ${paint.dim(`${frame.file}:${frame.line ?? '?'}`)}`),
      ].join('\n'),
    )
  const away = failed.map(({node, message}) => paint.yellow(`${node} was not asked: ${message}`))
  return [`${run}, attempt ${attempt}`, lines.join('\n'), ...stacks, ...away].join('\n\n')
}

const STATES: Record<string, string> = {
  R: 'running',
  S: 'sleeping',
  D: 'waiting for a device',
  T: 'stopped',
  t: 'traced',
  Z: 'ended',
}
