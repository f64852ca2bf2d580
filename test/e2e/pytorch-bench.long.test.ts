import {cp, mkdtemp, readFile, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'
import {buildProgram, flexrack, shell, type Ended} from '../support/program.ts'

interface Spread {
  median: number
  min: number
  max: number
}
interface Measured {
  per_second: Spread
  step_ms: Spread
  communication: number
}
interface Result {
  run: string
  nodes: number
  world_size: number
  total: Measured & {windows: number[]}
  ranks: (Measured & {rank: number; node: string})[]
  loss: {first: number; last: number}
  gradient_difference: {together: number; alone: number}
}

const root = resolve(import.meta.dirname, '../..')
let rack: TestLocalRack
let folder: string
let project: string

beforeAll(async () => {
  buildProgram()
  rack = await startLocalRack({nodes: 2, environments: await sharedEnvironments()})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-bench-e2e-'))
  project = join(folder, 'speed')
  const made = await flexrack(['init', project, '--template', 'pytorch-bench'], {env: rack.env})
  expect(made.stdout).toContain('flexrack local up --nodes 2')
  // A superset (test/unit/project/scaffold.test.ts), which other tests have built already.
  await cp(join(root, 'templates/pytorch-ddp/requirements.txt'), join(project, 'requirements.txt'))
  await cp(join(root, 'test/fixtures/pytorch-bench/networks_test.py'), join(project, 'networks_test.py'))
})
afterAll(async () => {
  await rack?.stop()
  if (folder) await rm(folder, {recursive: true, force: true})
})

const scaling = (words: string): Promise<Ended> =>
  shell(`python3 scaling.py --flexrack "$FLEXRACK" --no-tracking ${words}`, {cwd: project, env: rack.env})

test(
  'scaling.py trains the GPT on one node and on two, and makes a table of what both came to',
  {timeout: 900_000},
  async () => {
    const {status, stdout, stderr} = await scaling('1 2 -- --model gpt --precision fp32 --windows 3 --steps 2')
    expect(status, stderr).toBe(0)
    const results = JSON.parse(await readFile(join(project, 'scaling.json'), 'utf8')) as Result[]
    const common = {
      schema: 'pytorch-bench/1',
      model: 'gpt',
      size: 'small',
      precision: 'fp32',
      unit: 'tokens',
      device: 'cpu',
      parameters: 3_749_376,
      steps: 2,
    }
    expect(results).toEqual([
      expect.objectContaining({...common, nodes: 1, world_size: 1}),
      expect.objectContaining({...common, nodes: 2, world_size: 2}),
    ])
    for (const {world_size: ranks, ...one} of results) {
      expect(one.run).toMatch(/^speed-\w{5}$/)
      expect(one.total.windows).toHaveLength(3)
      expect(one.ranks.map(({rank, node}) => [rank, node])).toEqual(
        [
          [0, 'node-1'],
          [1, 'node-2'],
        ].slice(0, ranks),
      )
      for (const {per_second: speed, step_ms: step, communication} of [one.total, ...one.ranks]) {
        expect(0 < speed.min && speed.min <= speed.median && speed.median <= speed.max).toBe(true)
        expect(0 <= communication && communication < 1).toBe(true)
        expect(speed.median * step.median).toBeGreaterThan(0)
      }
      // Two sequences of 128 tokens a rank and step: speed and time of a step are two views of one clock.
      expect((one.total.per_second.median * one.total.step_ms.median) / 1000).toBeCloseTo(ranks * 2 * 128, 3)
      expect(one.loss.last).toBeLessThan(one.loss.first - 0.3)
      expect(one.gradient_difference.together).toBeLessThan(1e-6)
      expect(one.gradient_difference.alone > 0.01).toBe(ranks > 1) // the ranks learn from different data
      expect(stderr).toContain(`node-1:0 | total, ${ranks === 1 ? '1 rank on 1 node' : '2 ranks on 2 nodes'}: `)
    }
    expect(stderr).toMatch(
      /^node-2:1 \| rank 1 on node-2: [\d,.]+ tokens\/s \([\d,.]+ to [\d,.]+\), [\d,.]+ ms a step, \d+% communication$/m,
    )
    const [head, first, second] = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/))
    expect(head).toEqual([
      'nodes',
      'ranks',
      'tokens/s',
      'per rank',
      'ms a step',
      'speed-up',
      'efficiency',
      'communication',
    ])
    expect([first?.slice(0, 2), first?.slice(5)]).toEqual([
      ['1', '1'],
      ['1.00', '100%', '-'],
    ])
    expect(second?.slice(0, 2)).toEqual(['2', '2'])
    const speedUp = (results[1] as Result).total.per_second.median / (results[0] as Result).total.per_second.median
    expect(Math.abs(Number(second?.[5]) - speedUp)).toBeLessThan(0.006)
    expect(Math.abs(Number.parseInt(second?.[6] as string, 10) - 50 * speedUp)).toBeLessThan(0.6)
  },
)

test('the networks are those of the papers, and the report adds up', {timeout: 300_000}, async () => {
  const {status, stderr} = await flexrack(['workspace', 'exec', '--', 'python', '-m', 'unittest', 'networks_test'], {
    cwd: project,
    env: rack.env,
  })
  expect(stderr).toMatch(/Ran 10 tests.*\n\nOK/)
  expect(status).toBe(0)
})

test('scaling.py ends as the command does where a run cannot be had, and says why', async () => {
  const {status, stdout, stderr} = await scaling('3')
  expect({status, stdout}).toEqual({status: 4, stdout: ''})
  expect(stderr).toContain('3 nodes are asked for, and rack local has 2')
})
