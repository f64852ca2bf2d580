import type {Pace} from '../../lib/protocol/index.ts'
import {paint} from '../terminal/print.ts'
import {table} from '../terminal/render.ts'

/** The part of `runs show` about how fast the ranks were; empty where none told of steps. */
export function paceText(pace: Pace | null | undefined): string {
  if (!pace) return ''
  const right = 'right' as const
  const rows = pace.ranks.map((one) => ({
    rank: String(one.rank),
    node: one.node,
    steps: String(one.steps),
    step: stepTime(one.step),
    own: stepTime(one.own),
    data: stepTime(one.data),
    collectives: stepTime(one.collectives),
  }))
  const columns = [
    'rank',
    'node',
    {key: 'steps', align: right},
    {key: 'step', title: 'TIME/STEP', align: right},
    {key: 'own', title: 'OWN WORK', align: right},
    {key: 'data', title: 'DATA', align: right},
    {key: 'collectives', align: right},
  ]
  return [table(rows, columns), stragglerLine(pace) ?? ''].filter((part) => part !== '').join('\n')
}

/** One sentence about the rank that the others wait for; undefined where there is none. */
export function stragglerLine(pace: Pace | null | undefined): string | undefined {
  return pace?.slowest ? `${paint.yellow('slowest:')} ${pace.slowest.message}` : undefined
}

function stepTime(seconds: number): string {
  return seconds >= 1 ? `${seconds.toFixed(2)} s` : `${(seconds * 1000).toFixed(seconds < 0.01 ? 2 : 0)} ms`
}
