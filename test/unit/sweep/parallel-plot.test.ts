import {expect, test} from 'vitest'
import type {Trial} from '../../../src/lib/protocol/index.ts'
import {parallelPlot} from '../../../src/lib/sweep/parallel-plot.ts'
import type {Sweep} from '../../../src/lib/sweep/index.ts'

const trial = (number: number, params: Trial['params'], value: number | null): Trial =>
  ({
    number,
    state: value === null ? 'pruned' : 'complete',
    params,
    texts: Object.fromEntries(Object.entries(params).map(([name, one]) => [name, String(one)])),
    value,
  }) as Trial

function sweep(trials: Trial[], goal: 'maximize' | 'minimize' = 'maximize'): Sweep {
  const parameters = {
    rate: {min: 0.001, max: 0.1, log: true, integer: false},
    kind: {choices: ['<a>', 'b']},
    layers: {min: 1, max: 3, step: 1, log: false, integer: true},
  }
  return {
    sweep: 'x-sweep-1',
    spec: {metric: 'accuracy', goal, sampler: 'tpe', pruner: {name: 'none'}, parallel: 1, parameters},
    trials,
  } as unknown as Sweep
}

const pointsOf = (svg: string, number: number): number[][] =>
  (new RegExp(`data-trial="${number}" points="([^"]*)"`).exec(svg)?.[1] ?? '')
    .split(' ')
    .map((pair) => pair.split(',').map(Number))

test('every complete trial is a line over all axes; a value on a log scale is where its logarithm is', () => {
  const svg = parallelPlot(
    sweep([
      trial(0, {rate: 0.001, kind: '<a>', layers: 1}, 0.5),
      trial(1, {rate: 0.01, kind: 'b', layers: 3}, 0.9),
      trial(2, {rate: 0.1, kind: 'b', layers: 2}, null),
    ]),
  )
  const [low, middle] = [pointsOf(svg, 0), pointsOf(svg, 1)]
  expect([low.length, middle.length]).toEqual([4, 4])
  expect(svg).not.toContain('data-trial="2"')
  const [bottom, top] = [low[3]?.[1] ?? 0, middle[3]?.[1] ?? 0]
  expect(low.map(([, y]) => y)).toEqual([bottom, bottom, bottom, bottom])
  expect(middle.map(([, y]) => y)).toEqual([(bottom + top) / 2, top, top, top])
  expect(low.map(([x]) => x)).toEqual(middle.map(([x]) => x))
})

test('the best trial is thick and lies above the others, whichever goal it is', () => {
  const trials = [trial(0, {rate: 0.001, kind: 'b', layers: 1}, 0.5), trial(1, {rate: 0.01, kind: 'b', layers: 3}, 0.9)]
  for (const [goal, best] of [
    ['maximize', 1],
    ['minimize', 0],
  ] as const) {
    const lines = parallelPlot(sweep(trials, goal))
      .split('\n')
      .filter((line) => line.startsWith('<polyline'))
    expect(lines.at(-1)).toContain(`data-trial="${best}"`)
    expect(lines.filter((line) => line.includes('stroke-width="4"'))).toHaveLength(1)
    expect(lines.at(-1)).toContain('stroke-width="4"')
  }
})

test('texts of the user are text, never markup, and no trial, or one, or equal values, are pictures too', () => {
  const svg = parallelPlot(
    sweep([trial(0, {rate: 0.001, kind: '<a>', layers: 1}, 0.5), trial(1, {rate: 0.1, kind: '<a>', layers: 1}, 0.5)]),
  )
  expect(svg).toContain('&lt;a&gt;')
  expect(svg).not.toContain('<a>')
  for (const trials of [[], [trial(0, {rate: 0.001, kind: 'b', layers: 1}, 0.5)]])
    expect(parallelPlot(sweep(trials))).not.toMatch(/NaN|Infinity|undefined/)
  expect(svg).not.toMatch(/NaN|Infinity|undefined/)
})
