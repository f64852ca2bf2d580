import {cp, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {expect} from 'vitest'
import type {TrainSpec} from '../../src/lib/manifest/index.ts'
import type {RankLine} from '../../src/lib/runs/index.ts'
import type {Mlflow} from '../../src/lib/tracking/index.ts'
import type {TrainRack} from './train.ts'

const BENCH = fileURLToPath(new URL('../../templates/pytorch-bench', import.meta.url))

export interface Bench {
  total: {per_second: {median: number}; windows: number[]}
  loss: {first: number; last: number}
}

/**
 * Trains with the template pytorch-bench, tracked, and compares its record with what it wrote down: parameters (`params`
 * besides), metrics, every window, and bench.json, which it gives.
 */
export async function trainBench(
  {train, rack, folder}: TrainRack,
  requirements: string,
  client: Mlflow,
  {spec, words, params}: {spec: Partial<TrainSpec>; words: string[]; params: Record<string, string>},
): Promise<{bench: Bench; lines: RankLine[]}> {
  for (const file of ['measure.py', 'report.py', 'workload.py', 'resnet.py', 'gpt.py'])
    await cp(join(BENCH, file), join(folder, file))
  const {trained, lines} = await train(await readFile(join(BENCH, 'bench.py'), 'utf8'), {
    requirements,
    spec: {...spec, outputs: ['bench.json'], command: ['train.py', ...words]},
    choice: {tracking: true},
  })
  expect(trained, JSON.stringify(lines)).toMatchObject({
    status: 'finished',
    worldSize: Number(params.world_size),
    outputs: ['bench.json'],
    recorded: true,
  })
  const outputs = join(rack.home, 'state/local/nodes/node-1/home/.flexrack/runs', trained.run, 'outputs')
  const bench = JSON.parse(await readFile(join(outputs, 'bench.json'), 'utf8')) as Bench
  expect(bench).toMatchObject({
    schema: 'pytorch-bench/1',
    size: 'small',
    gradient_difference: {together: expect.closeTo(0, 5)},
  })
  const record = await client.getRun(trained.trackedId as string)
  expect(record.params).toMatchObject(params)
  const unit = params.model === 'gpt' ? 'tokens' : 'images'
  expect(trained.metrics.find((metric) => metric.key === `${unit}_per_second`)?.value).toBe(
    bench.total.per_second.median,
  )
  expect(trained.metrics.map((metric) => metric.key)).toEqual(
    expect.arrayContaining([`${unit}_per_second_per_rank`, 'step_ms', 'communication_share', 'loss']),
  )
  expect(
    (await client.metricHistory(record.id, `window_${unit}_per_second`))
      .toSorted((a, b) => a.step - b.step)
      .map((one) => one.value),
  ).toEqual(bench.total.windows)
  expect((await client.walkArtifacts(record.id)).map((one) => one.path)).toContain('bench.json')
  return {bench, lines}
}
