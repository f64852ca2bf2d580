import {execFileSync} from 'node:child_process'
import {existsSync, mkdirSync, readdirSync, readFileSync, statSync} from 'node:fs'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, relative, resolve} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext, type Context} from '../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints} from '../../src/lib/endpoint/index.ts'
import {openGpus, OWN_LEASES} from '../../src/lib/gpu/index.ts'
import {openTracking, startHead, stopHead, type Tracking} from '../../src/lib/head/index.ts'
import {headRequirements} from '../../src/lib/head/requirements.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {modelsOf} from '../../src/lib/model/index.ts'
import {loadRecipe} from '../../src/lib/recipe/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import {openRuns} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {buildEnvironments} from '../support/built-environments.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {finishedRun} from '../support/finished-run.ts'
import {unknownFiles} from '../support/kept-files.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {addModel} from '../support/onnx.ts'
import {buildProgram} from '../support/program.ts'
import {readListening} from '../support/sockets.ts'

const root = resolve(import.meta.dirname, '../..')
const TORCH = readFileSync(join(root, 'templates/pytorch-ddp/requirements.txt'), 'utf8')

/** Whose socket it is, by the command that listens: the first word is that of the table in docs/security.md. */
const OWNERS: [id: string, command: RegExp][] = [
  // Its supervisor keeps its sockets.
  ['head', /head-service-[0-9a-f]+\.mjs|service\/supervisor\.py \S+ (?:head|standby)$/],
  ['mlflow', /mlflow|uvicorn/],
  ['supervisor', /flexrack_node\.gang\./],
  ['preflight', /preflight\.run/],
  ['front', /service\/supervisor\.py/],
  ['model server', /serve\.py/],
  ['gpu door', /gpu\/door\.py/],
  ['gpud', /flexrack-gpud/],
  ['torchrun', /torch\.distributed\.run|torchrun/],
  ['ranks', /wait\.py|flexrack_node\.rank|instrumentation/],
  ['sshd', /^(\S*\/)?sshd[: ]/],
]

interface Row {
  id: string
  where: string[]
}

/** Rows of the table below a heading of docs/security.md, as cells. */
function table(heading: string): string[][] {
  const text = readFileSync(join(root, 'docs/security.md'), 'utf8')
  const part = text.split(/^#+ /m).find((one) => one.startsWith(heading)) ?? ''
  return part
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

const SOCKETS: Row[] = table('Listening sockets').map(([id = '', where = '']) => ({id, where: where.split(/, | and /)}))
/** Where secrets lie, as patterns below a node's root or FLEXRACK_HOME. */
const SECRETS = table('Secrets').map(
  ([, file = '']) =>
    new RegExp(
      `^${file
        .replaceAll('`', '')
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^/]*')}$`,
    ),
)

describe.skipIf(!mayMakeNetworks())('all that flexrack opens and keeps', () => {
  let net: TestNetRack
  let folder: string
  let context: Context
  let fleet: Fleet
  let tracking: Tracking
  let endpoints: Endpoints
  const said: string[] = []
  const seen = new Set<string>()

  beforeAll(async () => {
    buildProgram()
    await buildEnvironments([headRequirements({}), (await loadRecipe('onnx', process.env)).requirements, TORCH])
    folder = await mkdtemp(join(tmpdir(), 'flexrack-inventory-'))
    net = await startNetRack(2, await sharedEnvironments(), (node) => ({FLEXRACK_RESERVATIONS: join(folder, node)}))
    for (const {name} of net.rack.nodes) mkdirSync(join(folder, name), {mode: 0o700})
    delete net.rack.head.bind
    context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
    for (const kind of ['warn', 'note'] as const) context.reporter[kind] = (text: string) => void said.push(text)
    fleet = openFleet(net.rack.nodes, context)
  }, 900_000)
  afterAll(async () => {
    await endpoints?.close()
    await tracking?.close()
    await fleet?.close()
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  }, 120_000)

  /** Compares what listens on both nodes with the table. */
  function look(step: string): void {
    for (const {name} of net.rack.nodes) {
      for (const socket of readListening(net.inside(name, 'ss', '-Hlntupx'))) {
        if (socket.command === '') continue
        const id = OWNERS.find(([, command]) => command.test(socket.command))?.[0]
        const known = SOCKETS.some((row) => row.id === id && row.where.includes(socket.where))
        expect
          .soft(
            known,
            `${step}, ${name}: ${id ?? 'somebody unknown'} listens on ${socket.where} (${socket.name}): ${socket.command.slice(0, 200)}`,
          )
          .toBe(true)
        seen.add(`${id}: ${socket.where}`)
      }
    }
  }

  test('every socket at every step is in the table of docs/security.md', {timeout: 600_000, retry: 0}, async () => {
    look('before anything')
    await startHead(net.rack, fleet, context)
    look('with a head')
    tracking = await openTracking({rack: net.rack, fleet}, context)
    const project = join(folder, 'project')
    execFileSync('mkdir', ['-p', project])
    await writeFile(join(project, 'requirements.txt'), TORCH)
    const go = join(folder, 'go')
    await writeFile(
      join(project, 'wait.py'),
      `import os, time, torch, torch.distributed as dist\ndist.init_process_group('gloo')\ndist.all_reduce(torch.ones(1))\nprint('up', flush=True)\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.1)\n`,
    )
    const manifest: Manifest = {
      path: join(project, 'flexrack.yaml'),
      folder: project,
      name: 'proj',
      workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
      train: {
        command: ['wait.py'],
        launcher: 'torchrun',
        nodes: 2,
        processesPerNode: 1,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 5,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
    const place = {manifest, rack: net.rack, fleet}
    const ups: string[] = []
    const training = runPlan(
      await planTrain(place, {args: [], tracking: true}, context),
      place,
      {detach: false, onLines: (lines) => void ups.push(...lines.map((line) => line.text))},
      context,
    )
    const until = Date.now() + 240_000
    while (ups.filter((text) => text === 'up').length < 2 && Date.now() < until) {
      await pause(500)
      look('while a training starts')
    }
    expect(
      ups.filter((text) => text === 'up'),
      `${ups.slice(-20).join('\n')}\n${said.join('\n')}`,
    ).toHaveLength(2)
    look('with a training')
    secrets('with a training')
    await writeFile(go, '')
    said.push(JSON.stringify(await training))

    await finishedRun(tracking, 'tiny-one', {'model.onnx': addModel(1)})
    const models = modelsOf(tracking.mlflow, context)
    await models.register(await models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'}))
    endpoints = await openEndpoints({rack: net.rack, fleet}, context)
    await endpoints.deploy({name: 'tiny', replicas: 2, on: 'node-1,node-2'})
    await endpoints.token('tiny')
    look('with an endpoint')
    const gpus = openGpus({rack: {...net.rack, gpu: {bind: ['0.0.0.0']}}, fleet}, context)
    const served = await gpus.serve([net.rack.nodes[1]!], {backend: 'sim'}).then(
      () => true,
      (error: Error) => error,
    )
    expect.soft(served, 'a daemon of GPUs was started').toBe(true)
    const lent = await OWN_LEASES.passes(
      {rack: net.rack, fleet},
      {
        host: await openHost(fleet, net.rack.nodes[0]!, context),
        nodes: ['node-2'],
        order: {count: 1, share: {whole: true}, cap: false, api: 'cuda', purpose: 'a kernel', text: '1 GPU'},
      },
      context,
    )
    expect.soft(lent.places, 'a node is let in by another one, over the network').toHaveLength(1)
    look('with a daemon of GPUs')
    said.push(
      JSON.stringify(await endpoints.show('tiny')),
      JSON.stringify(await openRuns({rack: net.rack, fleet}, context).list({all: true, limit: 9})),
    )
    for (const run of await tracking.mlflow.searchRuns({
      experimentIds: [(await tracking.mlflow.ensureExperiment('proj')).id],
    }))
      said.push(JSON.stringify(run))
    secrets('with everything')
    kept()

    await gpus.stop([net.rack.nodes[1]!], true)
    await endpoints.remove('tiny')
    await stopHead(net.rack, fleet, context)
    for (const {name} of net.rack.nodes) {
      const left = readListening(net.inside(name, 'ss', '-Hlntupx')).filter(
        (one) => !/^(\S*\/)?sshd[: ]/.test(one.command) && one.command !== '',
      )
      expect.soft(left, `${name}, at the end`).toEqual([])
    }
    // A row that nothing stands behind would say more than is known.
    // A preflight is over before one can look for it; Ray is looked at in launchers.long.test.ts.
    for (const {id, where} of SOCKETS.filter((row) => !['preflight', 'ray'].includes(row.id)))
      for (const one of where) expect.soft([...seen], `${id}: ${one}`).toContain(`${id}: ${one}`)
  })

  /** Files that stay: each has the number of its shape, or protocol/ says why it has none. */
  function kept(): void {
    for (const node of net.rack.nodes)
      expect
        .soft(unknownFiles('NODE', join(net.servers[node.name]!.home, node.root.replace('~/', ''))), node.name)
        .toEqual([])
    for (const name of ['state', 'cache', 'config'].filter((one) => existsSync(join(folder, 'home', one))))
      expect.soft(unknownFiles(name.toUpperCase(), join(folder, 'home', name))).toEqual([])
  }

  /**
   * Secrets of this rack: where they were found must be in the table, and nobody else may read it; nowhere else may
   * they be.
   */
  function secrets(step: string): void {
    const homes = net.rack.nodes.map((node) => join(net.servers[node.name]!.home, node.root.replace('~/', '')))
    const all = [...homes, join(folder, 'home')].filter((place) => existsSync(place))
    const found = new Map<string, string>()
    for (const place of all) {
      for (const file of filesBelow(place)) {
        const text = readFileSync(file, 'latin1')
        for (const match of text.matchAll(/"(?:token|secret|key)": ?"([^"]{20,})"/g))
          found.set(secretOf(match[1]!), relative(place, file))
        if (file.endsWith('admin-token')) found.set(text.trim(), relative(place, file))
      }
    }
    expect(found.size, step).toBeGreaterThan(3)
    const commands = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readOr(`/proc/${pid}/cmdline`))
    for (const [secret, from] of found) {
      expect
        .soft(
          commands.filter((one) => one.includes(secret)),
          `${step}: of ${from}, in a command line`,
        )
        .toEqual([])
      expect
        .soft(
          said.filter((one) => one.includes(secret)),
          `${step}: of ${from}, in what is said`,
        )
        .toEqual([])
    }
    for (const place of all) {
      expect.soft(statSync(place).mode & 0o077, `${step}: ${place} is open to others`).toBe(0)
      for (const file of filesBelow(place)) {
        const text = readFileSync(file, 'latin1')
        const holds = [...found].find(([secret]) => text.includes(secret))
        if (!holds) continue
        const name = relative(place, file)
        expect
          .soft(
            SECRETS.some((pattern) => pattern.test(name)),
            `${step}: ${name} has the secret of ${holds[1]}`,
          )
          .toBe(true)
        expect.soft([name, statSync(file).mode & 0o077, statSync(file).uid]).toEqual([name, 0, process.getuid!()])
      }
    }
  }
})

/** Of a key in PEM, a line of it. */
function secretOf(text: string): string {
  return text.includes('PRIVATE KEY') ? (text.split('\\n')[1] ?? text) : text
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile() && !/site-packages|\/artifacts\//.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => statSync(file).size < 20e6)
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
