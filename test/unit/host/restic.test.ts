import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterEach, beforeEach, expect, test} from 'vitest'
import {makeContext, type Context} from '../../../src/lib/base/index.ts'
import {WHEELS} from '../../../src/lib/host/index.ts'

let home: string
let server: Server
let asked: string[]
let answer: {status: number; body: string}
let context: Context

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'flexrack-restic-'))
  asked = []
  answer = {status: 200, body: 'not the package'}
  server = createServer((request, response) => {
    asked.push(request.url as string)
    response.writeHead(answer.status).end(answer.body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  context = makeContext({
    env: {
      FLEXRACK_HOME: home,
      FLEXRACK_DEBIAN_MIRROR: `http://127.0.0.1:${(server.address() as AddressInfo).port}/debian/`,
    },
  })
})

afterEach(async () => {
  await new Promise((done) => server.close(done))
  await rm(home, {recursive: true, force: true})
})

test('another content than the hash says is refused, from the mirror, the cache and a bundle, and leaves nothing', async () => {
  for (const folder of ['cache/restic', 'state/bundle/restic']) {
    await mkdir(join(home, folder), {recursive: true})
    await writeFile(join(home, folder, 'restic_0.18.0-1+b4_amd64.deb'), 'something else')
  }
  await expect(WHEELS.restic('x86_64', context)).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    message: expect.stringContaining('another content') as string,
  })
  expect(asked).toEqual(['/debian/pool/main/r/restic/restic_0.18.0-1%2Bb4_amd64.deb'])
  expect(await readdir(join(home, 'cache/restic'))).toEqual(['restic_0.18.0-1+b4_amd64.deb'])
})

test('a mirror without it, and a machine for which there is none, are named', async () => {
  answer.status = 404
  await expect(WHEELS.restic('aarch64', context)).rejects.toMatchObject({
    code: 'REMOTE_FAILED',
    message: expect.stringContaining('status 404') as string,
  })
  await expect(WHEELS.restic('riscv64', context)).rejects.toMatchObject({code: 'NODE_UNFIT'})
})
