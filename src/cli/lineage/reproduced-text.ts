import type {Difference, MetricVerdict} from '../../lib/lineage/index.ts'
import {fields, table} from '../terminal/render.ts'
import type {Reproduced} from './reproduce.ts'

/** What is not as it was, before it begins. Pure. */
export function differencesText(differences: Difference[]): string {
  if (differences.length === 0)
    return 'nothing that was recorded differs: environment, data, nodes, drivers and flexrack are the same'
  return `what differs from then:\n${differences.map(({what, was, is}) => `  ${what}: ${was} -> ${is}`).join('\n')}`
}

/** What it came to, beside what the first one came to. Pure. */
export function reproducedText({run, again, verdict, metrics, outputs, packages, folder}: Reproduced): string {
  const blocks = [
    fields([
      ['run', run],
      ['again', again],
      ['verdict', verdict],
      ['code', folder ?? undefined],
    ]),
    table(metrics.map(metricRow), [
      'metric',
      'steps',
      'verdict',
      {key: 'first', title: 'FIRST STEP THAT DIFFERS'},
      'largest',
    ]),
    table(
      outputs.map(({path, verdict: found}) => ({output: path, verdict: found})),
      ['output', 'verdict'],
    ),
    packages.length === 0 ? '' : `packages that are others:\n${packages.map((one) => `  ${one}`).join('\n')}`,
  ]
  return blocks.filter((one) => one !== '').join('\n\n')
}

function metricRow({metric, steps, verdict, first, largest}: MetricVerdict): Record<string, string | undefined> {
  return {
    metric,
    steps: String(steps),
    verdict,
    first: first ? `${first.step}: ${first.was ?? 'none'} -> ${first.is ?? 'none'}` : undefined,
    largest: first ? (largest === null ? 'a step is missing' : largest.toExponential(1)) : undefined,
  }
}
