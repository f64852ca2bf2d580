import {readdir, readFile, readlink} from 'node:fs/promises'
import {beforeAll, describe, expect, test} from 'vitest'
import {openHost} from '../../../../src/lib/host/index.ts'
import type {EndpointRack} from '../../../support/endpoint-rack.ts'
import {addModel} from '../../../support/onnx.ts'

/** On a rack with a head that all of them use (runtimes.test.ts). */
export function closedTests(given: () => EndpointRack): void {
  describe('what a model server keeps closed', () => {
    let site: EndpointRack
    let url: string
    let token: string
    let pid: number

    beforeAll(async () => {
      site = given()
      await site.run('tiny-one', {'model.onnx': addModel(1)})
      await site.models.register(
        await site.models.findRegistration({name: 'tiny', run: 'tiny-one', alias: 'production'}),
      )
      await site.endpoints.deploy({name: 'tiny', on: 'node-1'})
      const shown = await site.endpoints.show('tiny')
      url = `${site.tracking.head!.uri}/endpoints/tiny`
      token = (await site.endpoints.token('tiny')).reveal()
      const host = await openHost(site.rack.fleet(), site.rack.rack.nodes[0]!, site.rack.context())
      pid = (await host.call('service.status', {id: shown.servers[0]!.service})).pid!
    })

    const REQUEST = JSON.stringify({inputs: [{name: 'x', shape: [1, 4], datatype: 'FP32', data: [1, 1, 1, 1]}]})

    async function ask(base: string, method: string, path: string, body?: string): Promise<number> {
      const answer = await fetch(base + path, {
        method,
        headers: {authorization: `Bearer ${token}`, 'content-type': 'application/json'},
        ...(body !== undefined && {body}),
      })
      await answer.arrayBuffer()
      return answer.status
    }

    /** What a process listens on, as the kernel tells it: ADDRESS:PORT in hexadecimal. */
    async function listening(process: number): Promise<string[]> {
      const links = await Promise.all(
        (await readdir(`/proc/${process}/fd`)).map((fd) => readlink(`/proc/${process}/fd/${fd}`).catch(() => '')),
      )
      const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${process}/net/${name}`, 'utf8')))
      const rows = tables.flatMap((table) =>
        table
          .trim()
          .split('\n')
          .slice(1)
          .map((line) => line.trim().split(/\s+/)),
      )
      return rows.filter((row) => row[3] === '0A' && links.includes(`socket:[${row[9]}]`)).map((row) => row[1]!)
    }

    const CLOSED: [string, string, string?][] = [
      ['POST', '/v2/repository/models/tiny/unload', ''],
      ['POST', '/v2/repository/models/tiny/load', ''],
      ['POST', '/v2/repository/index', '{}'],

      ['GET', '/v2/docs'],
      ['GET', '/v2/models/tiny/docs'],
      ['GET', '/metrics'],
      ['GET', '/openapi.json'],
    ]

    describe('who may only predict', () => {
      test.each(CLOSED)('cannot %s %s through the gateway, and the model goes on', async (method, path, body) => {
        expect(await ask(url, method, path, body)).toSatisfy((status: number) => status >= 400 && status < 500)
        expect(await ask(url, 'POST', '/v2/models/tiny/infer', REQUEST)).toBe(200)
      })
    })

    describe('the model server itself', () => {
      test('listens on one socket, of loopback, and has none of these calls', async () => {
        const sockets = await listening(pid)
        expect(sockets).toHaveLength(1)
        expect(sockets[0]).toMatch(/^0100007F:/)
        const own = `http://127.0.0.1:${Number.parseInt(sockets[0]!.split(':')[1]!, 16)}`
        for (const [method, path, body] of CLOSED)
          expect([path, await ask(own, method, path, body)]).toEqual([path, 404])
        for (const path of [
          '/v2',
          '/v2/health/live',
          '/v2/health/ready',
          '/v2/models/tiny',
          '/v2/models/tiny/ready',
          '/v2/models/tiny/versions/1/ready',
        ])
          expect([path, await ask(own, 'GET', path)]).toEqual([path, 200])
        for (const path of ['/v2/models/tiny/infer', '/v2/models/tiny/versions/1/infer', '/v2/models/tiny/generate'])
          expect([path, await ask(own, 'POST', path, REQUEST)]).toEqual([path, 200])
      })
    })

    test('a client has a key of its own, within limits, until it is revoked', async () => {
      const {keys} = site.endpoints
      const made = await keys.add('tiny', {client: 'team-a', seconds: 600, requestsPerSecond: 0.001})
      const as = async (): Promise<number> => {
        const answer = await fetch(`${url}/v2/models/tiny/infer`, {
          method: 'POST',
          headers: {authorization: `Bearer ${made.key.reveal()}`, 'content-type': 'application/json'},
          body: REQUEST,
        })
        await answer.arrayBuffer()
        return answer.status
      }
      expect([made.url, await as(), await as()]).toEqual([
        expect.stringMatching(/^https:.*\/endpoints\/tiny$/),
        200,
        429,
      ])
      await expect(keys.add('tiny', {client: 'team-a', seconds: 600})).rejects.toMatchObject({code: 'CONFLICT'})
      await expect
        .poll(() => keys.list('tiny'))
        .toEqual([
          expect.objectContaining({
            client: 'team-a',
            requestsPerSecond: 0.001,
            concurrency: null,
            requests: 2,
            refused: 1,
          }),
        ])
      await expect(keys.planRevoke('tiny', ['team-b'])).rejects.toMatchObject({code: 'NOT_FOUND'})
      await keys.revoke('tiny', ['team-a'])
      expect([await as(), await keys.list('tiny')]).toEqual([401, []])
    })

    test('health through the gateway is good as long as a prediction would be answered', async () => {
      for (const word of ['live', 'ready']) expect(await ask(url, 'GET', `/v2/health/${word}`)).toBe(200)
      process.kill(pid, 'SIGSTOP')
      try {
        for (const word of ['live', 'ready']) expect(await ask(url, 'GET', `/v2/health/${word}`)).toBe(503)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      expect(await ask(url, 'GET', '/v2/health/ready')).toBe(200)
    })
  })
}
