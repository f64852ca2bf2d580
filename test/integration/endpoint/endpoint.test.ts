import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {existsSync} from 'node:fs'
import {readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {isCliError, type CliError} from '../../../src/lib/base/index.ts'
import type {TensorAnswer} from '../../../src/lib/endpoint/index.ts'
import {openHost, type Host} from '../../../src/lib/host/index.ts'
import type {HeadRollout} from '../../../src/lib/protocol/index.ts'
import {startEndpointRack, type EndpointRack} from '../../support/endpoint-rack.ts'
import {addModel} from '../../support/onnx.ts'
import {buildProgram} from '../../support/program.ts'
import {startTraffic} from '../../support/traffic.ts'

const CLI = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))

let site: EndpointRack

beforeAll(async () => {
  buildProgram()
  site = await startEndpointRack({nodes: 2})
  await site.run('tiny-one', {'model.onnx': addModel(1), 'notes.txt': Buffer.from('hello')})
  await site.run('tiny-two', {'model.onnx': addModel(2)})
  await site.run('tiny-bad', {'model.onnx': Buffer.from('this is no graph')})
  await site.run('tiny-both', {'a.onnx': addModel(1), 'b.onnx': addModel(2)})
})

afterAll(() => site?.stop())

async function failure(promise: Promise<unknown>): Promise<CliError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isCliError(error)) throw error ?? new Error('it did not fail')
  return error
}

async function host(node = 0): Promise<Host> {
  return openHost(site.rack.fleet(), site.rack.rack.nodes[node]!, site.rack.context())
}

/** Ids of the model servers that run on a node. */
async function runningOn(node = 0): Promise<string[]> {
  const services = await (await host(node)).call('service.list', {prefix: 'endpoint-'})
  return services.filter((one) => ['starting', 'running', 'waiting'].includes(one.state)).map((one) => one.id)
}

async function offset(name = 'tiny'): Promise<number> {
  const answer = await site.endpoints.invoke({name, file: '--data', bytes: Buffer.from('[[10, 10, 10, 10]]')})
  return ((answer as TensorAnswer).outputs[0]?.data[0] as number) - 10
}

describe('models', () => {
  test('the ONNX file of a run becomes a version with an alias, and says where it comes from', async () => {
    const found = await site.models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'})
    expect(found.path).toBe('model.onnx')
    const {version, previous} = await site.models.register(found)
    expect([version.version, previous]).toEqual(['1', undefined])
    const shown = await site.models.show('tiny@production')
    expect(shown.list[0]).toMatchObject({
      version: '1',
      aliases: ['production'],
      lineage: {run: 'tiny-one', commit: 'c0ffee0123456789', metrics: {accuracy: 0.97}},
    })
  })

  test('the newest finished run of the experiment is taken where none is named', async () => {
    const found = await site.models.findRegistration({name: 'tiny', experiment: 'tiny', path: 'a.onnx'})
    expect(found.run.name).toBe('tiny-both')
  })

  test('a run with several models asks which, a wrong name suggests the right one', async () => {
    expect(await failure(site.models.findRegistration({name: 'tiny', run: 'tiny-both'}))).toMatchObject({
      code: 'USAGE',
      hint: '--path a.onnx',
    })
    expect((await failure(site.models.findRegistration({name: 'tiny', run: 'tiny-on'}))).message).toContain(
      'did you mean tiny-one?',
    )
    expect((await failure(site.models.show('tinny'))).message).toContain('did you mean tiny?')
    expect((await failure(site.models.show('tiny@prodution'))).message).toContain('did you mean tiny@production?')
    expect(await failure(site.models.show('tiny/9'))).toMatchObject({code: 'NOT_FOUND', details: {versions: ['1']}})
  })

  test('promoting says what the alias was before, so that it can be undone', async () => {
    for (const run of ['tiny-two', 'tiny-bad'])
      await site.models.register(await site.models.findRegistration({name: 'tiny', run}))
    const promotion = await site.models.findPromotion('tiny/2', 'production')
    expect(await site.models.promote(promotion)).toEqual({
      name: 'tiny',
      version: '2',
      alias: 'production',
      previous: '1',
    })
    await site.models.promote(await site.models.findPromotion(`tiny/${promotion.previous}`, 'production'))
    expect((await site.models.list())[0]).toMatchObject({
      name: 'tiny',
      versions: 3,
      newest: '3',
      aliases: {production: '1'},
    })
  })

  test('a version is removed with its aliases, a model with its versions', async () => {
    await site.models.register(await site.models.findRegistration({name: 'gone', run: 'tiny-one', alias: 'old'}))
    await site.models.register(await site.models.findRegistration({name: 'gone', run: 'tiny-two'}))
    expect(await site.models.remove(await site.models.findRemoval('gone/1'))).toMatchObject({
      versions: ['1'],
      aliases: ['old'],
    })
    expect((await site.models.show('gone')).list.map((one) => one.version)).toEqual(['2'])
    await site.models.remove(await site.models.findRemoval('gone'))
    expect((await failure(site.models.show('gone'))).code).toBe('NOT_FOUND')
  })
})

describe('endpoints', () => {
  test('a dry run plans the whole deploy and touches nothing', async () => {
    const plan = await site.endpoints.planDeploy({name: 'tiny'})
    expect(plan.steps.map((step) => step.id)).toEqual([
      'fetch',
      'environment:node-1',
      'place:node-1',
      'start:endpoint-tiny-r1-0',
      'ready:endpoint-tiny-r1-0',
      'switch',
    ])
    expect(await site.endpoints.list()).toEqual([])
  })

  test('the production version is deployed by default and answers through the gateway', async () => {
    const {endpoint, changed} = await site.endpoints.deploy({name: 'tiny'})
    expect([changed, endpoint]).toMatchObject([true, {model: 'tiny/1', release: 'r1', state: 'serving', replicas: 1}])
    expect(await offset()).toBe(1)
  })

  test('deploying what serves already changes nothing', async () => {
    expect(await site.endpoints.deploy({name: 'tiny', model: 'tiny/1'})).toMatchObject({
      changed: false,
      endpoint: {release: 'r1'},
    })
  })

  test('what does not fit the model is refused with a sentence', async () => {
    const send = (text: string): Promise<CliError> =>
      failure(site.endpoints.invoke({name: 'tiny', file: '--data', bytes: Buffer.from(text)}))
    expect(await send('[[1, 2, 3]]')).toMatchObject({
      code: 'USAGE',
      message: 'the input has shape (1, 3), but x takes (?, 4), where ? is any size',
    })
    expect(
      (await send('{"inputs": [{"name": "z", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}')).message,
    ).toContain('no input z')
    // The server itself refuses too, for those who call it without us.
    const bad = await send('{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3]}]}')
    expect(bad).toMatchObject({code: 'ENDPOINT_FAILED', details: {status: 400}})
    expect(bad.message).toContain('input x')
    expect((await failure(site.endpoints.show('tony'))).message).toContain('did you mean tiny?')
  })

  test('load goes to its own address, and says what it kept up with', async () => {
    const input = {name: 'tiny', file: '--data', bytes: Buffer.from('[[1, 2, 3, 4]]')}
    const report = await site.endpoints.bench({...input, rates: [5, 20], seconds: 1, timeout: 20, most: 64})
    expect(report).toMatchObject({model: 'tiny/1', way: 'address', servers: 1})
    expect(report.steps.map(({rate, sent, answered}) => [rate, sent - answered])).toEqual([
      [5, 0],
      [20, 0],
    ])
  })

  test('not one request is lost over a good deploy, a bad deploy and a rollback', async () => {
    const url = `${site.tracking.head!.uri}/endpoints/tiny`
    const token = (await site.endpoints.token('tiny')).reveal()
    const traffic = startTraffic(`${url}/v2/models/tiny/infer`, token)
    try {
      await traffic.more(50)
      expect(
        (await site.endpoints.deploy({name: 'tiny', model: 'tiny/2', replicas: 2, on: 'all'})).endpoint,
      ).toMatchObject({model: 'tiny/2', replicas: 2})
      await traffic.more(50)
      const bad = await failure(site.endpoints.deploy({name: 'tiny', model: 'tiny/3'}))
      expect(bad.code).toBe('ENDPOINT_FAILED')
      expect(bad.message).toContain('release r2 keeps serving')
      expect((bad.details.lines as string[]).join('\n')).toContain('INVALID_PROTOBUF')
      await traffic.more(50)
      expect((await site.endpoints.rollback('tiny')).endpoint).toMatchObject({
        release: 'r1',
        model: 'tiny/1',
        replicas: 1,
      })
      await traffic.more(50)
    } finally {
      await traffic.stop()
    }
    expect(traffic.failures).toEqual([])
    expect([...traffic.answers.keys()].sort()).toEqual([1, 2])
    expect(await runningOn(0)).toEqual(['endpoint-tiny-r1-0'])
    expect(await runningOn(1)).toEqual([])
    const {releases} = await site.endpoints.show('tiny')
    expect(releases.map((one) => [one.id, one.state, one.rejected ?? false])).toEqual([
      ['r3', 'failed', false],
      ['r2', 'stopped', true],
      ['r1', 'active', false],
    ])
    expect((await failure(site.endpoints.rollback('tiny'))).code).toBe('NOT_FOUND')
  })

  test('the token of an endpoint is kept 0600 and opens nothing else', async () => {
    const token = (await site.endpoints.token('tiny')).reveal()
    const file = join(site.rack.home, 'state', 'endpoints', 'local', 'tiny.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await readFile(file, 'utf8')).includes(token)).toBe(true)
    const answer = await fetch(`${site.tracking.head!.uri}/flexrack/v1/endpoints`, {
      headers: {authorization: `Bearer ${token}`},
    })
    expect([401, 403]).toContain(answer.status)
  })

  test('a second deploy at the same time is told who holds the lock', async () => {
    const [first, second] = await Promise.allSettled([
      site.endpoints.deploy({name: 'tiny', model: 'tiny/1', force: true}),
      (await site.open()).deploy({name: 'tiny', model: 'tiny/2', force: true}),
    ])
    const refused = [first, second].find((one) => one.status === 'rejected')
    expect(refused?.reason).toMatchObject({
      code: 'LOCKED',
      details: {holder: expect.stringContaining(`pid ${process.pid}`)},
    })
    expect([first, second].filter((one) => one.status === 'fulfilled')).toHaveLength(1)
  })

  test('a model server that dies is started again, and show says so', async () => {
    const {servers} = await site.endpoints.show('tiny')
    const status = await (await host()).call('service.status', {id: servers[0]!.service})
    process.kill(status.pid!, 'SIGKILL')
    expect([1, 2]).toContain(await offset()) // the gateway waits for it
    expect((await site.endpoints.show('tiny')).servers[0]).toMatchObject({
      state: 'running',
      restarts: 1,
      exit: 'signal KILL',
    })
  })

  test('scaling up and down keeps the address and the release', async () => {
    const before = await site.endpoints.show('tiny')
    expect((await site.endpoints.scale('tiny', 2)).endpoint).toMatchObject({
      release: before.release,
      replicas: 2,
      url: before.url,
    })
    expect(await runningOn()).toHaveLength(2)
    await site.endpoints.scale('tiny', 1)
    expect(await runningOn()).toHaveLength(1)
    expect((await site.endpoints.scale('tiny', 1)).changed).toBe(false)
  })

  test('Ctrl-C in mid-deploy takes back what was started', async () => {
    const before = await runningOn()
    const stop = new AbortController()
    const reporter = {
      ...site.rack.context().reporter,
      begin: (title: string) => {
        if (title.startsWith('Start endpoint-')) stop.abort()
        return {detail() {}, amount() {}, done() {}, fail() {}}
      },
    }
    const endpoints = await site.open({signal: stop.signal, reporter})
    const error = await failure(endpoints.deploy({name: 'tiny', model: 'tiny/2', force: true}))
    expect(error.code).toBe('INTERRUPTED')
    expect(await runningOn()).toEqual(before)
    expect((await site.endpoints.show('tiny')).releases[0]).toMatchObject({state: 'failed', reason: 'interrupted'})
  })

  test('what a killed deploy left is found and ended by the next one', async () => {
    const before = await runningOn()
    const child = spawn(
      process.execPath,
      [CLI, 'endpoint', 'deploy', 'tiny', '--model', 'tiny/2', '--force', '--timeout', '100'],
      {env: site.rack.env, cwd: site.rack.home, stdio: 'ignore'},
    )
    while ((await runningOn()).length === before.length)
      if (child.exitCode !== null) throw new Error('the deploy ended before it could be killed')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const {endpoint} = await site.endpoints.deploy({name: 'tiny', model: 'tiny/2', force: true})
    expect(endpoint.state).toBe('serving')
    const active = (await site.endpoints.show('tiny')).servers.map((one) => one.service)
    expect(await runningOn()).toEqual(active)
    expect(await offset()).toBe(2)
  })

  test('a canary gets its part, is promoted or taken back, and not one request is lost', async () => {
    const url = `${site.tracking.head!.uri}/endpoints/tiny/v2/models/tiny/infer`
    const traffic = startTraffic(url, (await site.endpoints.token('tiny')).reveal())
    const beside = {name: 'tiny', model: 'tiny/1', canary: {steps: [40, 100], judge: {minimum: 1e6, hold: 0}}}
    const headSays = (): Promise<{rollout: HeadRollout}> =>
      site.tracking.head!.request('GET', '/flexrack/v1/endpoints/tiny')
    await site.endpoints.deploy({name: 'tiny', model: 'tiny/2'}) // as it is, after the tests before
    const old = await site.endpoints.show('tiny')
    try {
      expect((await site.endpoints.planDeploy(beside)).steps.map((step) => step.id).at(-1)).toBe('split')
      const {endpoint} = await site.endpoints.deploy(beside)
      expect(endpoint).toMatchObject({release: old.release, model: 'tiny/2', canary: {model: 'tiny/1', percent: 40}})
      const canary = endpoint.canary!.release
      while (!traffic.answers.has(1) || !traffic.answers.has(2)) await traffic.more(20)
      expect(await failure(site.endpoints.deploy({name: 'tiny', model: 'tiny/1'}))).toMatchObject({
        code: 'CONFLICT',
        hint: 'flexrack endpoint promote tiny\nflexrack endpoint abort tiny',
      })
      expect((await failure(site.endpoints.scale('tiny', 2))).code).toBe('CONFLICT')
      const shown = await site.endpoints.show('tiny')
      expect(shown.traffic.slice(0, 2)).toMatchObject([
        {release: old.release, percent: 60},
        {release: canary, percent: 40, failed: 0},
      ])
      expect(shown.servers.map((one) => one.release)).toEqual([old.release, canary])
      const back = ['return', 'drain', `stop:endpoint-tiny-${canary}-0`]
      for (const plan of [site.endpoints.planRollback('tiny'), site.endpoints.planDecision('tiny', 'abort')])
        expect((await plan).steps.map((step) => step.id)).toEqual(back)
      // It is the head that takes it back: no command runs meanwhile, and the next one finds it done.
      await (await host()).call('service.stop', {id: `endpoint-tiny-${canary}-0`})
      while ((await headSays()).rollout.state !== 'returned') await traffic.more(5)
      const ended = await site.endpoints.show('tiny')
      expect(ended).toMatchObject({model: 'tiny/2', canary: undefined})
      const reason = expect.stringContaining('is worse') as unknown
      expect(ended.releases[0]).toMatchObject({id: canary, state: 'stopped', rejected: true, reason})
      expect((await site.endpoints.decide('tiny', 'abort')).changed).toBe(false)
      expect(await runningOn()).toEqual(old.servers.map((one) => one.service))
      await traffic.more(20)
      await site.endpoints.deploy(beside)
      await traffic.more(20)
      expect((await site.endpoints.planDecision('tiny', 'promote')).steps[0]?.kind).toBe('endpoint.switch')
      expect((await site.endpoints.decide('tiny', 'promote')).endpoint).toMatchObject({
        model: 'tiny/1',
        canary: undefined,
      })
      await traffic.more(20)
      expect((await failure(site.endpoints.decide('tiny', 'promote'))).code).toBe('NOT_FOUND')
      expect((await site.endpoints.rollback('tiny')).endpoint.model).toBe('tiny/2')
    } finally {
      await traffic.stop()
    }
    expect(traffic.failures).toEqual([])
  })

  test('a model that was logged as a folder is served with everything in it', async () => {
    const run = await site.run('tiny-folder', {
      'model/model.onnx': addModel(3),
      'model/MLmodel': Buffer.from('flavors: {}\n'),
      'model/weights-7f3a': Buffer.from('w'),
    })
    const [tracked] = await site.tracking.mlflow.searchRuns({
      experimentIds: [(await site.tracking.mlflow.ensureExperiment('tiny')).id],
      filter: `tags.\`mlflow.runName\` = '${run}'`,
    })
    await site.tracking.mlflow.ensureModel('folder')
    await site.tracking.mlflow.createVersion({
      name: 'folder',
      source: `${tracked!.artifactUri}/model`,
      runId: tracked!.id,
    })
    await site.endpoints.deploy({name: 'folder', on: 'node-2'})
    expect(await offset('folder')).toBe(3)
    expect(existsSync(join((await host(1)).root, 'endpoints', 'folder', 'r1', 'model', 'weights-7f3a'))).toBe(true)
    await site.endpoints.remove('folder')
    expect(await runningOn(1)).toEqual([])
  })

  test('an endpoint whose servers were stopped is failing, until it is deployed again', async () => {
    for (const {node, service} of (await site.endpoints.show('tiny')).servers)
      await (await host(node === 'node-1' ? 0 : 1)).call('service.stop', {id: service})
    expect((await site.endpoints.list()).find((one) => one.name === 'tiny')?.state).toBe('failing')
    expect(await site.endpoints.show('tiny')).toMatchObject({state: 'failing', servers: [{state: 'stopped'}]})
    await site.endpoints.deploy({name: 'tiny', model: 'tiny/2'})
    expect((await site.endpoints.show('tiny')).state).toBe('serving')
  })

  test('logs give the lines of the active release', async () => {
    const lines: string[] = []
    await site.endpoints.logs({name: 'tiny', follow: false, tail: 65_536, onLine: ({text}) => lines.push(text)})
    expect(lines.join('\n')).toContain("Loaded model 'tiny' successfully")
  })

  test('remove ends the servers and takes files, token and record away', async () => {
    await site.endpoints.remove('tiny')
    expect(await site.endpoints.list()).toEqual([])
    expect(await runningOn()).toEqual([])
    expect(existsSync(join((await host()).root, 'endpoints', 'tiny'))).toBe(false)
    expect(existsSync(join(site.rack.home, 'state', 'endpoints', 'local', 'tiny.json'))).toBe(false)
    expect((await failure(site.endpoints.show('tiny'))).code).toBe('NOT_FOUND')
  })
})
