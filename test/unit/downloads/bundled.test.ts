import {createHash} from 'node:crypto'
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises'
import {createServer, request} from 'node:http'
import type {AddressInfo, Socket} from 'node:net'
import {createServer as createSocketServer} from 'node:net'
import {once} from 'node:events'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {text} from 'node:stream/consumers'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {BUNDLE_HOST, bundledWheels, serveBundled} from '../../../src/lib/downloads/bundled.ts'
import {NamedHosts} from '../../../src/lib/downloads/named-hosts.ts'
import {DownloadProxy} from '../../../src/lib/downloads/proxy.ts'

const PYTHON = 'cpython-3.12.16+20261110-x86_64-unknown-linux-gnu-install_only_stripped.tar.gz'
let home: string
let port: number
const server = createServer(
  (asked, response) => void serveBundled(asked, response, asked.url ?? '', {FLEXRACK_HOME: home}),
)

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-bundled-'))
  await mkdir(join(home, 'state/bundle/wheels/folder.whl'), {recursive: true})
  await writeFile(join(home, 'state/bundle/wheels/a-1+cpu-py3-none-any.whl'), '0123456789')
  await writeFile(join(home, 'state/bundle/wheels/.hidden.whl'), 'x')
  await writeFile(join(home, 'state/secret.whl'), 'x')
  await mkdir(join(home, 'state/bundle/pythons'))
  await writeFile(join(home, 'state/bundle/pythons', PYTHON), 'python')
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  server.close()
  await rm(home, {recursive: true, force: true})
})

const ask = async (
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<{status: number | undefined; range: string | undefined; length: string | undefined; body: string}> => {
  const asked = request({port, path, headers, method}).end()
  const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
  return {
    status: response.statusCode,
    range: response.headers['content-range'],
    length: response.headers['content-length'],
    body: await text(response),
  }
}

test('a page with the wheels, and each of them whole or in part', async () => {
  expect(await bundledWheels({FLEXRACK_HOME: home})).toEqual(['a-1+cpu-py3-none-any.whl', 'folder.whl'])
  expect((await ask('/wheels/')).body).toBe(
    `<a href="a-1%2Bcpu-py3-none-any.whl#sha256=${createHash('sha256').update('0123456789').digest('hex')}">a-1+cpu-py3-none-any.whl</a>\n`,
  )
  const path = '/wheels/a-1%2Bcpu-py3-none-any.whl'
  expect(await ask(path)).toMatchObject({status: 200, body: '0123456789'})
  expect(await ask(path, {}, 'HEAD')).toMatchObject({status: 200, length: '10', body: ''})
  expect(await ask(path, {range: 'bytes=2-4'})).toMatchObject({status: 206, range: 'bytes 2-4/10', body: '234'})
  expect(await ask(path, {range: 'bytes=-3'})).toMatchObject({status: 206, body: '789'})
  expect(await ask(path, {range: 'bytes=8-99'})).toMatchObject({status: 206, range: 'bytes 8-9/10', body: '89'})
  expect(await ask(path, {range: 'bytes=10-'})).toMatchObject({status: 416})
})

test('archives of Pythons by their releases, with the hashes that these publish', async () => {
  expect((await ask('/pythons/20261110/SHA256SUMS')).body).toBe(
    `${createHash('sha256').update('python').digest('hex')}  ${PYTHON}\n`,
  )
  expect(await ask(`/pythons/20261110/${encodeURIComponent(PYTHON)}`)).toMatchObject({status: 200, body: 'python'})
  expect(await ask(`/pythons/20261111/${encodeURIComponent(PYTHON)}`)).toMatchObject({status: 404})
  expect((await ask('/pythons/20261111/SHA256SUMS')).body).toBe('')
})

test("flexrack's uv, from the cache or from a bundle; of nodes that share through the proxy without any bundle, and of no others", async () => {
  for (const place of ['cache/uv', 'state/bundle/uv']) await mkdir(join(home, place), {recursive: true})
  await writeFile(join(home, 'cache/uv/uv-0.13.9-x86_64.whl'), 'fetched')
  await writeFile(join(home, 'state/bundle/uv/uv-0.13.9-aarch64.whl'), 'bundled')
  expect([
    (await ask('/uv/uv-0.13.9-x86_64.whl')).body,
    (await ask('/uv/uv-0.13.9-aarch64.whl')).body,
    (await ask('/uv/uv-0.13.9-riscv64.whl')).status,
  ]).toEqual(['fetched', 'bundled', 404])
  for (const [peer, status] of [
    [{id: '1', isLost: false}, 200],
    [undefined, 403],
  ] as const) {
    const proxy = new DownloadProxy({
      secret: 's',
      hosts: new NamedHosts(null),
      env: {FLEXRACK_HOME: home},
      ...(peer && {peer}),
    })
    const way = createSocketServer((socket: Socket) => proxy.take(socket))
    await once(way.listen(0, '127.0.0.1'), 'listening')
    const say = async (path: string): Promise<number | undefined> => {
      const asked = request({
        port: (way.address() as AddressInfo).port,
        path,
        headers: {'proxy-authorization': `Basic ${Buffer.from('flexrack:s').toString('base64')}`},
      }).end()
      const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
      response.resume()
      return response.statusCode
    }
    expect([
      await say(`http://${BUNDLE_HOST}/uv/uv-0.13.9-x86_64.whl`),
      await say(`http://${BUNDLE_HOST}/wheels/`),
    ]).toEqual([status, 403])
    proxy.close()
    way.close()
  }
})

test('nothing else of this machine', async () => {
  for (const path of [
    '/wheels/..%2F..%2Fsecret.whl',
    '/wheels/%2e%2e/secret.whl',
    '/wheels/.hidden.whl',
    '/wheels/folder.whl',
    '/',
    '/wheels',
    '/secret.whl',
    `/pythons/${PYTHON}`,
    '/pythons/20261110/..%2F..%2Fsecret.whl',
    '/pythons/',
  ]) {
    expect({path, status: (await ask(path)).status}).toEqual({path, status: 404})
  }
  expect((await ask('/wheels/', {}, 'POST')).status).toBe(405)
})

test('the proxy has it for who has the secret, and then no other host at all', async () => {
  const proxy = new DownloadProxy({secret: 's', hosts: new NamedHosts(null), env: {FLEXRACK_HOME: home}, bundled: true})
  const way = createSocketServer((socket: Socket) => proxy.take(socket))
  await once(way.listen(0, '127.0.0.1'), 'listening')
  const say = async (path: string, password: string): Promise<number | undefined> => {
    const asked = request({
      port: (way.address() as AddressInfo).port,
      path,
      headers: {'proxy-authorization': `Basic ${Buffer.from(`flexrack:${password}`).toString('base64')}`},
    }).end()
    const [response] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
    response.resume()
    return response.statusCode
  }
  expect(await say(`http://${BUNDLE_HOST}/wheels/`, 'wrong')).toBe(407)
  expect(await say(`http://${BUNDLE_HOST}/wheels/`, 's')).toBe(200)
  expect(await say(`http://${BUNDLE_HOST}:81/wheels/`, 's')).toBe(403)
  expect(await say('http://pypi.org/simple/', 's')).toBe(403)
  proxy.close()
  way.close()
})
