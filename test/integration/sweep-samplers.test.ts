import {afterAll, beforeAll, expect, test} from 'vitest'
import {randomId} from '../../src/lib/base/index.ts'
import {ensureEnvironment, openHost, type Host} from '../../src/lib/host/index.ts'
import type {SweepSpec} from '../../src/lib/manifest/index.ts'
import type {Trial} from '../../src/lib/protocol/index.ts'
import {Engine, engineRequirements} from '../../src/lib/sweep/engine.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startLocalRack, type TestLocalRack} from '../support/local-rack.ts'

let rack: TestLocalRack
let host: Host

beforeAll(async () => {
  rack = await startLocalRack({nodes: 1, environments: await sharedEnvironments()})
  host = await openHost(rack.fleet(), rack.rack.nodes[0]!, rack.context())
}, 600_000)
afterAll(() => rack?.stop())

const PARAMETERS: SweepSpec['parameters'] = {
  x: {min: -4, max: 4, integer: false, log: false},
  rate: {min: 1e-4, max: 1, integer: false, log: true},
}
const valueOf = (trial: Trial): number =>
  (Number(trial.params.x) - 1) ** 2 + (Math.log10(Number(trial.params.rate)) + 2) ** 2

/**
 * Asks for trials, with three of them running at a time, until there are `upTo`; returns those that this engine chose.
 */
async function drive(sweep: string, sampler: SweepSpec['sampler'], upTo: number, isNew: boolean): Promise<Trial[]> {
  const spec: SweepSpec = {
    metric: 'loss',
    goal: 'minimize',
    sampler,
    seed: 5,
    trials: upTo,
    parallel: 3,
    pruner: {name: 'none'},
    parameters: PARAMETERS,
    arguments: undefined,
  } as unknown as SweepSpec
  const context = rack.context()
  const {path} = await ensureEnvironment(host, {requirements: engineRequirements(spec), user: 'sweep'}, context)
  const record = {project: 'proj', owner: 'me@here', spec, command: ['train.py'], tracked: 'none', experiment: 'proj'}
  const engine = new Engine(
    host,
    {sweep, python: `${path}/bin/python`, owner: 'me@here', ...(isNew ? {record} : {spec})},
    context,
  )
  const requested: Trial[] = []
  try {
    await engine.ready
    const running: Trial[] = []
    const tell = async (one: Trial | undefined): Promise<void> => {
      if (one) await engine.tell(one.number, {state: 'complete', value: valueOf(one)})
    }
    for (;;) {
      const trial = await engine.ask()
      if ('over' in trial) break
      requested.push(trial)
      if (running.push(trial) === 3) await tell(running.shift())
    }
    for (const one of running) await tell(one)
  } finally {
    await engine.close()
  }
  return requested
}

test.each(['random', 'tpe', 'cmaes', 'qmc', 'gp'] as const)(
  '%s chooses values within their bounds, the same for the same seed, and none again when it is resumed',
  {timeout: 300_000},
  async (sampler) => {
    const name = `${sampler}-${randomId()}`
    const first = await drive(`${name}-a`, sampler, 6, true)
    const again = await drive(`${name}-b`, sampler, 6, true)
    expect(first.map((one) => one.texts)).toEqual(again.map((one) => one.texts))
    const resumed = await drive(`${name}-a`, sampler, 18, false)
    const all = [...first, ...resumed]
    expect(all.map((one) => one.number)).toEqual(Array.from({length: 18}, (_, index) => index))
    expect(new Set(all.map((one) => JSON.stringify(one.params))).size).toBe(18)
    for (const {params, texts} of all) {
      expect(Number(params.x)).toBeGreaterThanOrEqual(-4)
      expect(Number(params.x)).toBeLessThanOrEqual(4)
      expect(Number(params.rate)).toBeGreaterThanOrEqual(1e-4)
      expect(Number(params.rate)).toBeLessThanOrEqual(1)
      expect(Number(texts.x)).toBe(params.x)
    }
  },
)

test(
  'a Gaussian process finds, after ten trials at random, what is better than all of them',
  {timeout: 300_000},
  async () => {
    const values = (await drive(`gp-${randomId()}`, 'gp', 20, true)).map(valueOf)
    expect(Math.min(...values.slice(12))).toBeLessThan(Math.min(...values.slice(0, 10)))
  },
)
