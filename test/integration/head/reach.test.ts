import {readFile, stat} from 'node:fs/promises'
import {createServer as createPlain} from 'node:http'
import {createServer as createSecure, type Server} from 'node:https'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../../src/lib/base/index.ts'
import {openEndpoints, type Endpoints} from '../../../src/lib/endpoint/index.ts'
import {openTracking, startHead, type HeadStatus, type Tracking} from '../../../src/lib/head/index.ts'
import {openHost} from '../../../src/lib/host/index.ts'
import {modelsOf} from '../../../src/lib/model/index.ts'
import {openFleet, type Fleet} from '../../../src/lib/ssh/index.ts'
import {headRequirements} from '../../../src/lib/head/requirements.ts'
import {loadRecipe} from '../../../src/lib/recipe/index.ts'
import {buildEnvironments} from '../../support/built-environments.ts'
import {sharedEnvironments} from '../../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../../support/net-rack.ts'
import {addModel} from '../../support/onnx.ts'
import {finishedRun} from '../../support/finished-run.ts'

// Two machines with a network between them; nothing in the rack file says how they reach each other.
describe.skipIf(!mayMakeNetworks())('on a rack of several machines', () => {
  let net: TestNetRack
  let fleet: Fleet
  let status: HeadStatus
  let tracking: Tracking
  let endpoints: Endpoints
  let folder: string

  beforeAll(async () => {
    await buildEnvironments([headRequirements({}), (await loadRecipe('onnx', process.env)).requirements])
    net = await startNetRack(2, await sharedEnvironments())
    delete net.rack.head.bind
    folder = join(net.rack.path, '..')
    const context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
    fleet = openFleet(net.rack.nodes, context)
    status = await startHead(net.rack, fleet, context)
    tracking = await openTracking({rack: net.rack, fleet}, context)
    endpoints = await openEndpoints({rack: net.rack, fleet}, context)
    await finishedRun(tracking, 'tiny-one', {'model.onnx': addModel(1)})
    const models = modelsOf(tracking.mlflow, context)
    await models.register(await models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'}))
  }, 600_000)
  afterAll(async () => {
    await endpoints?.remove('tiny').catch(() => {})
    await endpoints?.close()
    await tracking?.close()
    if (net && fleet)
      await (await openHost(fleet, net.rack.nodes[0]!, makeContext({}))).call('service.stop', {id: 'head'})
    await fleet?.close()
    await net?.stop()
  }, 120_000)

  /** curl on a node: its status line's number, or 0 and why there was none. */
  const curl = (node: string, ...words: string[]): string => {
    try {
      return net.inside(node, 'curl', '-sS', '-m', '10', '-o', '/dev/null', '-w', '%{http_code}', ...words)
    } catch (error) {
      return String((error as {stderr?: unknown}).stderr ?? error)
    }
  }

  test('the head finds the address at which the others reach it, and is there with TLS only', async () => {
    const address = net.addresses['node-1']!
    expect(status.url).toBe(`https://${address}:${status.port}`)
    const page = `${status.url}/version`
    expect(curl('node-2', '--cacert', status.certificates!, page)).toBe('401')
    expect(curl('node-2', page)).toMatch(/certificate|issuer/i)
    expect(curl('node-2', page.replace('https', 'http'))).not.toMatch(/^[1-4]/)
    const listening = net
      .inside('node-1', 'ss', '-Hltn')
      .split('\n')
      .filter((line) => !line.includes(':22 '))
      .map((line) => line.trim().split(/\s+/)[3] ?? '')
      .filter((one) => one !== '' && !one.endsWith(`${net.servers['node-1']!.port}`))
    expect(listening.filter((one) => !one.startsWith('127.') && !one.startsWith('[::1]'))).toEqual([
      `${address}:${status.port}`,
    ])
    expect((await stat(status.certificates!)).mode & 0o777).toBe(0o600)
  })

  test('a model server on another node is called through a front that lets nobody else in, and the printed call works from a third place', async () => {
    await endpoints.deploy({name: 'tiny', on: 'node-2'})
    const shown = await endpoints.show('tiny')
    const target = shown.servers[0]!.url!
    expect(target).toMatch(new RegExp(`^https://${net.addresses['node-2']}:`))
    expect(shown.servers[0]).toMatchObject({node: 'node-2', state: 'running'})
    const token = (await endpoints.token('tiny')).reveal()
    const request = JSON.stringify({inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', data: [1, 1, 1, 1]}]})
    expect(
      curl(
        'node-2',
        '--cacert',
        shown.certificates!,
        '-H',
        `Authorization: Bearer ${token}`,
        '-H',
        'Content-Type: application/json',
        '-d',
        request,
        `${shown.url}/v2/models/tiny/infer`,
      ),
    ).toBe('200')
    // The server itself, past the gateway: from the head's own machine, with the right authority to trust, and without
    // a certificate.
    for (const words of [
      ['--cacert', shown.certificates!, `${target}/v2/models/tiny`],
      ['-k', `${target}/v2/models/tiny`],
      [`${target.replace('https', 'http')}/v2/models/tiny`],
    ]) {
      expect([words, curl('node-1', ...words)]).toEqual([words, expect.not.stringMatching(/^[1-5]\d\d$/)])
    }
    const outside = net
      .inside('node-2', 'ss', '-Hltn')
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[3] ?? '')
      .filter(
        (one) =>
          one !== '' &&
          !one.startsWith('127.') &&
          !one.startsWith('[::1]') &&
          !one.endsWith(`:${net.servers['node-2']!.port}`),
      )
    expect(outside).toEqual([new URL(target).host])
  })

  test('a server that was killed is waited for behind its front', async () => {
    const shown = await endpoints.show('tiny')
    const host = await openHost(fleet, net.rack.nodes[1]!, makeContext({}))
    const {pid} = await host.call('service.status', {id: shown.servers[0]!.service})
    process.kill(pid!, 'SIGKILL')
    const answers = await Promise.all(
      Array.from({length: 4}, () =>
        tracking
          .head!.request<{outputs: unknown[]}>('POST', '/endpoints/tiny/v2/models/tiny/infer', {
            inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', data: [1, 1, 1, 1]}],
          })
          .catch((error: Error) => error.message),
      ),
    )
    expect(answers.map((one) => typeof one)).toEqual(['object', 'object', 'object', 'object'])
  })
})

describe('somebody else at the port of the head', () => {
  test('is told nothing', async () => {
    const {startTestHead} = await import('../../support/head.ts')
    const {startRelay} = await import('../../support/relay.ts')
    const {stopHead} = await import('../../../src/lib/head/index.ts')
    const {Authority} = await import('../../../src/lib/head/service/tls/authority.ts')
    const head = await startTestHead()
    const warned: string[] = []
    const heard: string[] = []
    try {
      const {hostname, port} = new URL(head.connection.nodeUri)
      const context = head.rack.context()
      const fleet = head.rack.fleet()
      const folder = join(head.host.root, 'head')
      const reporter = {...context.reporter, warn: (text: string) => void warned.push(text)}
      const {connectHead} = await import('../../../src/lib/head/index.ts')
      const connections = await Promise.all(
        [1, 2, 3].map(() => connectHead(head.rack.rack, fleet, {...context, reporter})),
      )
      const run = await head.mlflow.createRun({
        experimentId: (await head.mlflow.ensureExperiment('other-authorities')).id,
        name: 'one',
      })
      await stopHead(head.rack.rack, fleet, context)
      const otherAuthority = await Authority.open(join(folder, '..', 'other-authority'))
      const names = ['flexrack-head', 'localhost', '127.0.0.1']
      const own = await Authority.open(folder)
      const identities = {
        'with the same names from an authority of its own': await otherAuthority.leaf('listener', {
          name: 'flexrack head',
          names,
          usage: 'server',
        }),
        'with a certificate that the rack has signed for a model server at the same address': await own.lasting({
          name: 'model server',
          names: ['127.0.0.1'],
          usage: 'server',
        }),
        'without TLS': undefined,
      }
      for (const [index, [what, identity]] of Object.entries(identities).entries()) {
        const connection = connections[index]!
        warned.length = 0
        const server = (
          identity ? createSecure({key: identity.key, cert: identity.certificate}) : createPlain()
        ) as Server
        server.on('request', (request, response) => {
          heard.push(`${what}: ${request.method} ${request.url} ${request.headers.authorization}`)
          response.end('{}')
        })
        await new Promise<void>((resolve, reject) =>
          server.once('error', reject).listen(Number(port), hostname, resolve),
        )
        try {
          expect((server.address() as AddressInfo).port).toBe(Number(port))
          await expect(connection.request('GET', '/flexrack/v1/status'), what).rejects.toMatchObject({
            code: 'NODE_UNREACHABLE',
          })
          expect(warned, what).toEqual([expect.stringMatching(/is not the head of rack .*, and was told nothing/)])
          const relay = await startRelay({
            spool: join(folder, '..', `spool-${index}`),
            upstream: head.connection.nodeUri,
            caFile: head.caFile,
            token: 'a-secret',
            runId: run.id,
          })
          await fetch(`${relay.uri}/api/2.0/mlflow/runs/log-metric`, {
            method: 'POST',
            headers: {authorization: 'Bearer a-secret', 'content-type': 'application/json'},
            body: JSON.stringify({run_id: run.id, key: 'loss', value: 1, timestamp: 1, step: 1}),
          })
          await relay.seen('tracking.away')
          await relay.kill()
        } finally {
          server.closeAllConnections()
          await new Promise((resolve) => server.close(resolve))
        }
      }
      expect(heard).toEqual([])
      expect(await readFile(join(folder, 'tls', 'authority.json'), 'utf8')).toContain('PRIVATE KEY')
      for (const connection of connections) await connection.close()
    } finally {
      await head.stop()
    }
  }, 600_000)
})
