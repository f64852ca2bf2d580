import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import fc from 'fast-check'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../../src/lib/manifest/index.ts'
import {executePlan, type StepOutcome} from '../../../src/lib/plan/index.ts'
import {CHECKS, type CheckName} from '../../../src/lib/preflight/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {planTrain, type TrainChoice} from '../../../src/lib/train/index.ts'
import {openTrainEnv} from '../../../src/lib/train/env.ts'
import {TRAIN_HANDLERS} from '../../../src/lib/train/steps/handlers.ts'
import type {TrainSteps} from '../../../src/lib/train/steps/types.ts'
import {rackNodes, startTracking, trainingFleet} from '../../support/planned-nodes.ts'
import {bounded} from '../../support/property.ts'
import {throughJson} from '../../support/through-json.ts'
import type {Requested, RecordingFleet} from '../../support/recording-fleet.ts'

const TOKEN = 'the-token-of-the-user'
const ALL_CHECKS = Object.keys(CHECKS) as CheckName[]
let folder: string
let tracking: Awaited<ReturnType<typeof startTracking>>
let context: Context

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-plans-'))
  await writeFile(join(folder, 'train.py'), 'print(1)\n')
  await writeFile(
    join(folder, 'requirements.txt'),
    `--index-url https://me:${TOKEN}@pypi.invalid/simple\nsix==1.16.0\n`,
  )
  tracking = await startTracking()
  context = makeContext({env: {FLEXRACK_HOME: join(folder, '.flexrack'), MLFLOW_TRACKING_TOKEN: TOKEN}})
})
afterAll(async () => {
  await tracking?.stop()
  await rm(folder, {recursive: true, force: true})
})

interface Wish {
  train: TrainSpec
  choice: TrainChoice
  slurm: boolean
  requirements: boolean
  env: Record<string, string>
}

const name = fc.oneof(
  fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/),
  fc.constantFrom('env', 'output', '$env', '$output', 'at', '__proto__'),
)
const wish: fc.Arbitrary<Wish> = fc.record({
  train: fc
    .record({
      command: fc.array(fc.string({maxLength: 6}), {minLength: 1, maxLength: 3}),
      launcher: fc.constantFrom('torchrun' as const, 'mpi' as const, 'plain' as const),
      nodes: fc.integer({min: 1, max: 3}),
      processesPerNode: fc.constant(1),
      restarts: fc.nat(2),
      outputs: fc.array(fc.constantFrom('a.txt', 'b/')),
      env: fc.constant({}),
      grace: fc.nat(20),
      checkpoint: fc.constantFrom(undefined, {path: 'checkpoints/', copies: 1}),
      hang: fc.constantFrom(undefined, {after: 5, action: 'stop'} as unknown as NonNullable<TrainSpec['hang']>),
      watch: fc.constantFrom(undefined, false),
      withoutProgress: fc.constantFrom(undefined, 2),
    })
    .map(
      (one) =>
        Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as unknown as TrainSpec,
    ),
  choice: fc.record({
    args: fc.array(fc.string({maxLength: 6}), {maxLength: 2}),
    tracking: fc.boolean(),
    gpus: fc.constantFrom(undefined, 1, 2),
    spares: fc.constantFrom(undefined, 1),
    wait: fc.constantFrom(undefined, 0, 5, Infinity),
    exclusive: fc.boolean(),
    look: fc.boolean(),
  }),
  slurm: fc.boolean(),
  requirements: fc.boolean(),
  env: fc.dictionary(
    name,
    fc.stringMatching(/^[a-z]{0,3}$/).map((end) => `value-of-a-variable-${end}`),
    {maxKeys: 3},
  ),
})

async function planned({train, choice, slurm, requirements, env}: Wish) {
  const nodes = rackNodes(4)
  const rack: Rack = {
    name: 'lab',
    path: '/lab.yaml',
    nodes,
    head: {node: 'n0'},
    ...(slurm && {slurm: {login: 'n0', extra: []}}),
  }
  const manifest: Manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: ['.flexrack'], forward: [], env: {}, ...(requirements && {python: 'requirements.txt'})},
    train,
    tracking: {experiment: 'proj', uri: tracking.uri},
    endpoints: {},
  }
  const fleet = trainingFleet()
  const ours: TrainChoice = slurm
    ? {...choice, env, spares: undefined, wait: undefined}
    : {...choice, env, preflight: {skip: ALL_CHECKS, force: false}}
  return {
    place: {manifest, rack, fleet},
    choice: ours,
    fleet,
    train: await planTrain({manifest, rack, fleet}, ours, context),
  }
}

/**
 * What the nodes are asked for while the plan is carried out, node by node; the moment and the gang's secret are other
 * ones each time.
 */
async function carriedOut(
  plan: TrainSteps,
  rack: Rack,
  variables: Record<string, string>,
): Promise<{requested: Requested[]; outcomes: StepOutcome[]; fleet: RecordingFleet}> {
  const fleet = trainingFleet()
  const outcomes = await executePlan(
    plan,
    TRAIN_HANDLERS,
    openTrainEnv({rack, fleet}, {version: '1', variables}, context),
    context,
  )
  for (const one of outcomes)
    if (one.step.kind === 'train.reserve' && one.status === 'done')
      (one.value as {reservation: {close(): void}}).reservation.close()
  return {
    requested: fleet.requested.toSorted((a, b) => (`${a.node} ${a.verb}` < `${b.node} ${b.verb}` ? -1 : 1)),
    outcomes,
    fleet,
  }
}

const withoutChance = (requested: Requested[]): unknown =>
  JSON.parse(
    JSON.stringify(requested, (key, value: unknown) =>
      ['created', 'secret', 'token'].includes(key) ? typeof value : value,
    ),
  )

test(
  'a plan that went through JSON is the same, holds no secret, and does the same on the nodes',
  {timeout: 600_000},
  async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(wish, async (one) => {
        const {train, place} = await planned(one)
        const text = JSON.stringify(train.plan)
        expect(JSON.parse(text)).toEqual(train.plan)
        expect(text).not.toContain(TOKEN)
        expect(text).not.toContain('value-of-a-variable')
        const read = await carriedOut(throughJson(train.plan), place.rack, train.spec.env)
        for (const {status, error} of read.outcomes) expect([status, error]).toEqual(['done', undefined])
        for (const {step} of read.outcomes) seen.add(step.kind)
        const own = await carriedOut(train.plan, place.rack, train.spec.env)
        expect(withoutChance(read.requested)).toEqual(withoutChance(own.requested))
        for (const spec of specsOf(read.requested)) {
          expect(spec).toMatchObject({
            run: train.spec.run,
            env: train.spec.env,
            created: expect.any(Number),
            gang: {secret: expect.stringMatching(/^[0-9a-f]{64}$/)},
          })
          expect(JSON.stringify({...spec, env: null})).not.toMatch(/"\$(output|env)"/)
          expect(spec.tracking).toEqual(
            train.spec.tracked ? expect.objectContaining({run_id: 'r1', authorization: `Bearer ${TOKEN}`}) : null,
          )
        }
        const gang = new Set(specsOf(read.requested).map((spec) => (spec.gang as {secret: string}).secret))
        expect(gang.size).toBe(1)
      }),
      {...bounded('plans', {seconds: 60, runs: 30}), endOnFailure: true},
    )
    expect([...seen].sort()).toEqual([
      'train.reach',
      'train.reserve',
      'train.route',
      'train.start',
      'train.submit',
      'train.track',
      'workspace.environment',
      'workspace.sync',
    ])
  },
)

function specsOf(requested: Requested[]): Record<string, unknown>[] {
  return requested.flatMap(({verb, input}) =>
    verb === 'run.start' ? [input] : verb === 'slurm.submit' ? [input.spec as Record<string, unknown>] : [],
  )
}

test('every other part of the first plan is printed, too: the preflight, and who waits how long', async () => {
  const {place, choice} = await planned({
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 2,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    choice: {args: [], tracking: true, wait: Infinity},
    slurm: false,
    requirements: true,
    env: {},
  })
  const {plan} = await planTrain(place, {...choice, preflight: {skip: ['bandwidth'], force: true}}, context)
  expect(throughJson(plan)).toEqual(plan)
  expect(plan.steps.find((step) => step.kind === 'train.reserve')?.input.wait).toBe('forever')
  expect(plan.steps.find((step) => step.kind === 'train.preflight')?.input).toMatchObject({
    nodes: ['n0', 'n1'],
    skipped: ['bandwidth'],
    force: true,
    addresses: {$output: 'route'},
  })
})

test('a project that changed after it was planned is not brought to a node under the old plan', async () => {
  const {train, place} = await planned({
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 1,
      processesPerNode: 1,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    choice: {args: [], tracking: false},
    slurm: false,
    requirements: true,
    env: {},
  })
  await writeFile(join(folder, 'more.py'), 'print(2)\n')
  const {outcomes, requested} = await carriedOut(throughJson(train.plan), place.rack, {})
  expect(outcomes.find((one) => one.step.kind === 'workspace.sync')).toMatchObject({
    status: 'failed',
    error: {code: 'CONFLICT'},
  })
  expect(requested.map((one) => one.verb)).not.toContain('run.start')
  await rm(join(folder, 'more.py'))
})
