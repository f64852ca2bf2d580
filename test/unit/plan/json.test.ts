import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {transitionPlan} from '../../../src/lib/endpoint/plan.ts'
import type {Release} from '../../../src/lib/endpoint/document.ts'
import {planServe, SERVE_HANDLERS} from '../../../src/lib/gpu/serve.ts'
import {planHead} from '../../../src/lib/head/index.ts'
import {HEAD_HANDLERS, headEnv} from '../../../src/lib/head/steps.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import type {Manifest} from '../../../src/lib/manifest/index.ts'
import {executePlan, type StepOutcome} from '../../../src/lib/plan/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {planSweep} from '../../../src/lib/sweep/index.ts'
import {
  END_HANDLERS,
  planEnd,
  planWorkspace,
  ProjectFiles,
  WORKSPACE_HANDLERS,
} from '../../../src/lib/workspace/index.ts'
import {rackNodes, trainingAnswers} from '../../support/planned-nodes.ts'
import {recordingFleet} from '../../support/recording-fleet.ts'
import {throughJson} from '../../support/through-json.ts'

const PASSWORD = 'a-password-of-the-user'
let folder: string
let context: Context
const rack: Rack = {
  name: 'lab',
  path: '/lab.yaml',
  nodes: rackNodes(2),
  head: {node: 'n0', bind: '127.0.0.1', store: `postgresql://me:${PASSWORD}@db/mlflow`},
  gpu: {env: {LICENSE: PASSWORD}},
}
let manifest: Manifest

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flexrack-json-'))
  await writeFile(join(folder, 'train.py'), 'print(1)\n')
  for (const name of ['flexrack-gpud', 'libflexrack-sim.so']) await writeFile(join(folder, name), name)
  context = makeContext({env: {FLEXRACK_HOME: join(folder, '.flexrack'), FLEXRACK_NATIVE: folder}})
  manifest = {
    path: join(folder, 'flexrack.yaml'),
    folder,
    name: 'proj',
    workspace: {exclude: ['.flexrack'], forward: [], env: {SECRET: PASSWORD}},
    tracking: {experiment: 'proj'},
    endpoints: {},
    train: {
      command: ['train.py'],
      launcher: 'plain',
      nodes: 1,
      processesPerNode: 2,
      restarts: 0,
      outputs: [],
      env: {},
      grace: 5,
    },
    sweep: {
      metric: 'loss',
      goal: 'minimize',
      sampler: 'tpe',
      pruner: {name: 'none'},
      parallel: 4,
      parameters: {x: {min: 0, max: 1, log: false, integer: false}},
    },
  }
})
afterAll(() => rm(folder, {recursive: true, force: true}))

const statuses = (outcomes: StepOutcome[]): unknown[] => outcomes.map((one) => [one.step.id, one.status, one.error])
const done = (ids: string[]): unknown[] => ids.map((id) => [id, 'done', undefined])

test('a workspace is brought up, and removed, by plans that were read back', async () => {
  const fleet = recordingFleet({
    ...trainingAnswers,
    'workspace.remove': (_node, {dry_run: dry}) => ({
      ended: [{pid: 7, command: 'sh'}],
      removed: dry ? '/w' : '/w gone',
      files: 1,
      bytes: 1,
    }),
    'environment.remove': () => ({removed: ['0123456789abcdef'], bytes: 1, kept: []}),
  })
  const hosts = await Promise.all(rack.nodes.map((node) => openHost(fleet, node, context)))
  const host = (name: string) => hosts.find((one) => one.node === name) as (typeof hosts)[number]
  const {plan} = await planWorkspace(hosts, manifest, context)
  expect(throughJson(plan)).toEqual(plan)
  const up = await executePlan(
    throughJson(plan),
    WORKSPACE_HANDLERS,
    {host, files: new ProjectFiles(), context},
    context,
  )
  expect(statuses(up)).toEqual(done(['sync:n0', 'environment:n0', 'sync:n1', 'environment:n1']))
  expect(fleet.requested.find((one) => one.verb === 'sync.apply')?.input).toMatchObject({
    project: 'proj',
    remove: ['gone.py'],
    put: expect.arrayContaining([['train.py', 'f', expect.any(String), false]]),
  })
  const end = await planEnd(hosts, {project: 'proj', remove: true, environments: true, grace: 3}, context)
  expect(throughJson(end.plan)).toEqual(end.plan)
  const ended = await executePlan(throughJson(end.plan), END_HANDLERS, {host, context}, context)
  expect(statuses(ended)).toEqual(done(['remove:n0', 'remove:n1', 'environments:n0', 'environments:n1']))
  expect(ended[0]?.value).toMatchObject({node: 'n0', project: 'proj', removed: '/w gone'})
  expect(
    fleet.requested.find((one) => one.verb === 'workspace.remove' && !('dry_run' in one.input))?.input,
  ).toMatchObject({project: 'proj', grace: 3})
})

test('GPU daemons start with the variables of the rack file, which their plan does not have', async () => {
  const fleet = recordingFleet({
    'gpu.inspect': () => ({
      folder: '/g',
      system: 'linux',
      machine: 'x86_64',
      placed: [],
      keeper: 'supervisor',
      comes_back: {by: 'none', why: 'no cron'},
      running: false,
      pid: null,
      settings: null,
    }),
    'gpu.place': () => ({}),
    'gpu.start': () => ({
      started: true,
      pid: 1,
      port: 2,
      keeper: 'supervisor',
      comes_back: {by: 'none', why: 'no cron'},
    }),
  })
  const {plan} = await planServe(
    {rack, fleet},
    rack.nodes,
    {backend: 'sim'} as Parameters<typeof planServe>[2],
    context,
  )
  expect(throughJson(plan)).toEqual(plan)
  expect(JSON.stringify(plan)).not.toContain(PASSWORD)
  const variables = Object.fromEntries(rack.nodes.map(({name}) => [name, {LICENSE: PASSWORD}]))
  const outcomes = await executePlan(
    throughJson(plan),
    SERVE_HANDLERS,
    {
      host: (name) =>
        openHost(
          fleet,
          rack.nodes.find((one) => one.name === name)!,
          context,
        ),
      variables,
      context,
    },
    context,
  )
  expect(outcomes.map((one) => one.error)).toEqual(outcomes.map(() => undefined))
  expect(fleet.requested.find((one) => one.verb === 'gpu.start')?.input).toMatchObject({
    backend: 'sim',
    env: {LICENSE: PASSWORD},
  })
})

test('the head starts with its store, which its plan does not have', async () => {
  const fleet = recordingFleet({
    'head.inspect': (_node, {programs}) => ({
      folder: '/h',
      system: 'linux',
      machine: 'x86_64',
      libc: 'glibc',
      node: {path: '/usr/bin/node', version: '24.0.0'},
      placed: programs,
      memory_free: null,
      comes_back: {by: 'cron', why: null},
    }),
    'environment.ensure': () => ({hash: 'h', path: '/e', built: true}),
    'head.configure': () => ({path: '/h/config.json'}),
    'head.tidy': () => ({}),
    'service.start': () => ({started: true, comes_back: {by: 'cron', why: null}}),
  })
  const plan = await planHead(rack, fleet, context, 'start')
  expect(throughJson(plan)).toEqual(plan)
  expect(JSON.stringify(plan)).not.toContain(PASSWORD)
  expect(statuses(await executePlan(throughJson(plan), HEAD_HANDLERS, headEnv(rack, fleet, context), context))).toEqual(
    done(['environment', 'start']),
  )
  expect(fleet.requested.find((one) => one.verb === 'head.configure')?.input).toMatchObject({
    config: {bind: '127.0.0.1', python: '/e/bin/python', store: rack.head.store},
  })
  expect(fleet.requested.find((one) => one.verb === 'service.start')?.input).toMatchObject({
    argv: ['/usr/bin/node', expect.stringContaining('/h/program/'), '/h/config.json'],
  })
})

test('the plan of a sweep says all that its trials need but the variables of the manifest', async () => {
  const fleet = recordingFleet(trainingAnswers)
  const {plan} = await planSweep({manifest, rack, fleet}, {preflight: {skip: [], force: false}, args: ['--a']}, context)
  expect(throughJson(plan)).toEqual(plan)
  expect(JSON.stringify(plan)).not.toContain(PASSWORD)
  expect(plan.steps.find((step) => step.kind === 'sweep.trials')?.input).toMatchObject({
    command: ['train.py', '--a'],
    parallel: 4,
    rooms: {
      size: 1,
      processes: 2,
      nodes: [
        {node: 'n0', cores: 16},
        {node: 'n1', cores: 16},
      ],
    },
    workspaces: [{node: 'n0', codePath: '/home/n0/workspaces/proj/code'}, {node: 'n1'}],
    opened: {$output: 'open'},
  })
})

test('the plan of a deployment names where every address and file comes from', () => {
  const replicas = [
    {index: 0, node: 'n0', service: 'endpoint-m-r1-0'},
    {index: 1, node: 'n1', service: 'endpoint-m-r1-1'},
  ]
  const release: Release = {
    id: 'r1',
    model: {name: 'm', version: '3', files: []},
    runtime: 'onnx',
    state: 'starting',
    replicas,
    createdAt: '',
    by: 'me',
    kept: true,
  }
  const plan = transitionPlan(
    {
      command: 'endpoint deploy',
      endpoint: 'm',
      release,
      start: replicas,
      stop: [{index: 0, node: 'n0', service: 'old', url: 'http://127.0.0.1:1'}],
      headNode: 'n0',
      fetch: true,
      asksModel: false,
    },
    {seconds: undefined, rejectOld: false},
  )
  expect(throughJson(plan)).toEqual(plan)
  expect(plan.steps.find((step) => step.kind === 'endpoint.place')?.input).toMatchObject({
    files: {$output: 'fetch', at: ['files']},
  })
  expect(plan.steps.find((step) => step.kind === 'endpoint.switch')?.input).toMatchObject({
    release,
    ready: [{$output: 'ready:endpoint-m-r1-0'}, {$output: 'ready:endpoint-m-r1-1'}],
  })
})
