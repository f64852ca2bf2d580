import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, it} from 'vitest'
import {isCliError} from '../../../src/lib/base/index.ts'
import type {Problem} from '../../../src/lib/document/index.ts'
import {sweepSeconds} from '../../../src/lib/manifest/duration.ts'
import {loadManifest} from '../../../src/lib/manifest/index.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-manifest-'))
})
afterAll(() => rm(folder, {recursive: true, force: true}))

async function load(sweep: string, train = 'train: {command: train.py}') {
  const file = join(folder, 'flexrack.yaml')
  await writeFile(file, `name: x\n${train}\nsweep:\n${sweep}\n`)
  return loadManifest(file)
}

async function problems(sweep: string, train?: string): Promise<string[]> {
  const error = await load(sweep, train).then(
    () => undefined,
    (one: unknown) => one,
  )
  if (!isCliError(error, 'MANIFEST_INVALID')) throw new Error(`valid, or failed otherwise: ${String(error)}`)
  return (error.details.problems as Problem[]).map((one) => `${one.line}:${one.column} ${one.message}`)
}

const METRIC = '  metric: loss\n  goal: minimize\n'

describe('sweep:', () => {
  it('tells whole numbers, logarithms and lists apart, and reads the short forms', async () => {
    const {sweep} = await load(
      `${METRIC}  pruner: asha\n  time: 2h\n  parameters:\n    learning_rate: {min: 1e-5, max: 0.1, scale: log}\n    batch_size: [16, 32]\n    layers: {min: 1, max: 4, step: 1}\n    drop: {min: 0, max: 1}\n  arguments: lr={learning_rate} --size "{batch_size} each"`,
    )
    expect(sweep).toEqual({
      metric: 'loss',
      goal: 'minimize',
      sampler: 'tpe',
      pruner: {name: 'asha'},
      parallel: 1,
      time: 7200,
      parameters: {
        learning_rate: {min: 1e-5, max: 0.1, log: true, integer: false},
        batch_size: {choices: [16, 32]},
        layers: {min: 1, max: 4, step: 1, log: false, integer: true},
        drop: {min: 0, max: 1, log: false, integer: false},
      },
      arguments: ['lr={learning_rate}', '--size', '{batch_size} each'],
    })
  })

  it('says where in the file something is wrong, all at once', async () => {
    expect(
      await problems(
        `${METRIC}  sampler: grid\n  parameters:\n    a: {min: 1, max: 0}\n    b: [1, 2, 1]\n    c: {min: 0, max: 1, scale: log}\n  arguments: --x {d}`,
      ),
    ).toEqual([
      expect.stringMatching(/^8:\d+ sweep.parameters.a: a grid needs a list of values, or a step/),
      expect.stringMatching(/^8:\d+ sweep.parameters.a.max must be larger than its min, 1/),
      expect.stringMatching(/^9:\d+ sweep.parameters.b has 1 twice/),
      expect.stringMatching(/^10:\d+ sweep.parameters.c: a grid needs a list of values/),
      expect.stringMatching(/^10:\d+ sweep.parameters.c.min must be above 0 on a log scale/),
      expect.stringMatching(/^11:\d+ sweep.arguments: there is no parameter d/),
    ])
  })

  it('refuses names that would be one variable, a missing command, and samplers that it has not', async () => {
    expect(await problems(`${METRIC}  parameters: {l.r: [1], l_r: [1]}`)).toEqual([
      expect.stringContaining('l.r and l_r would be the same variable, FLEXRACK_PARAM_L_R'),
    ])
    expect(await problems(`${METRIC}  parameters: {x: [1]}`, '')).toEqual([
      expect.stringContaining('there is no `train:` part'),
    ])
    expect(await problems(`${METRIC}  sampler: gpx\n  parameters: {x: [1]}`)).toEqual([
      expect.stringMatching(/^6:\d+ .*tpe/),
    ])
    expect(await problems(`${METRIC}  sampler: cmaes\n  parameters: {x: [1, 2]}`)).toEqual([
      expect.stringContaining('cmaes takes numbers from min to max only'),
    ])
  })

  it('needs a goal: the wrong one of two would ruin a night', async () => {
    expect(await problems('  metric: loss\n  parameters: {x: [1]}')).toEqual([expect.stringContaining('goal')])
  })
})

it('a duration of a sweep may be days', () => {
  expect(['90', '30m', '2h', '1.5d', '0', '-1h', 'soon'].map(sweepSeconds)).toEqual([
    90,
    1800,
    7200,
    129_600,
    undefined,
    undefined,
    undefined,
  ])
})
