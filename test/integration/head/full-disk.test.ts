import {execFileSync} from 'node:child_process'
import {mkdir, mkdtemp, open, readdir, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {openTestServer, type TestServer} from '../../support/head-server.ts'
import {startHeadProcess} from '../../support/head-process.ts'
import {standIn, type StandIn} from '../../support/stand-in.ts'

const MIB = 1024 ** 2
const RUN = 'a'.repeat(32)
let place: string
let disk: string
let isMounted = false

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'flexrack-full-'))
  disk = join(place, 'disk')
  await mkdir(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=40m,mode=700', 'flexrack-test', disk], {stdio: 'ignore'})
    isMounted = true
  } catch {
    console.warn('full disks are not tried: mounting a small file system takes root')
  }
})
afterAll(async () => {
  if (isMounted) execFileSync('umount', ['-l', disk])
  await rm(place, {recursive: true, force: true})
})

/** Takes all room of the disk but `left` bytes. */
async function fill(left = 0): Promise<void> {
  const file = await open(join(disk, 'filler'), 'a')
  try {
    for (let size = MIB; size >= 4096; size /= 2) {
      const block = Buffer.alloc(size)
      for (;;) {
        const {bytesWritten} = await file.write(block).catch(() => ({bytesWritten: 0}))
        if (bytesWritten < size) break
      }
    }
    if (left > 0) await file.truncate((await file.stat()).size - left)
  } finally {
    await file.close()
  }
}

const empty = (): Promise<void> => rm(join(disk, 'filler'))

describe('a disk that is full to the last byte', () => {
  test('loses nothing that was acknowledged and acknowledges nothing that is lost; the head goes on, and again when there is room', async (context) => {
    if (!isMounted) return context.skip()
    const folder = join(disk, 'head')
    let head = await startHeadProcess({folder})
    const issue = (): Promise<Response> =>
      head.call('POST', '/flexrack/v1/tokens', {kind: 'endpoint', endpoint: 'digits', ttl_seconds: 600})
    const lock = (name: string, owner: string): Promise<Response> =>
      head.call('PUT', `/flexrack/v1/locks/${name}`, {owner, ttl_seconds: 600})
    const document = (revision: number, note: string): Promise<Response> =>
      head.call('PUT', '/flexrack/v1/endpoints/digits', {revision, document: {note}})
    const opens = async (token: string): Promise<boolean> =>
      (await fetch(`${head.url}/endpoints/digits/v2/models/digits`, {headers: {authorization: `Bearer ${token}`}}))
        .status !== 401
    try {
      const [kept, gone] = (await Promise.all([issue(), issue()].map(async (answer) => (await answer).json()))) as {
        id: string
        token: string
      }[]
      expect((await lock('deploy', 'me')).status).toBe(200)
      expect((await document(0, 'first')).status).toBe(200)
      await fill()
      // Files of a page each: a new one of the same size finds no room beside the old one.
      for (const refused of [await issue(), await lock('other', 'you'), await document(1, 'second')]) {
        expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
          507,
          '30',
          expect.stringContaining("the head's disk is full"),
        ])
      }
      expect((await head.call('DELETE', `/flexrack/v1/tokens/${gone!.id}`)).status).toBe(507)
      // it opens nothing from then on, written or not
      expect([await opens(kept!.token), await opens(gone!.token)]).toEqual([true, false])
      expect(await (await head.call('GET', '/flexrack/v1/status')).json()).toMatchObject({tokens: 1, endpoints: 1})
      expect(await (await head.call('GET', '/flexrack/v1/locks')).json()).toMatchObject({
        locks: [{name: 'deploy', owner: 'me'}],
      })
      expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
      await pause(1000) // MLflow is started again and again beside this: that must not end the head, either
      expect(await head.stop()).toBe(0)

      head = await startHeadProcess({folder}) // the record of its listener has room in the place of the old one
      expect(await opens(kept!.token)).toBe(true)
      expect(await (await head.call('GET', '/flexrack/v1/endpoints/digits')).json()).toMatchObject({
        revision: 1,
        document: {note: 'first'},
      })
      expect(await (await head.call('GET', '/flexrack/v1/locks')).json()).toMatchObject({
        locks: [{name: 'deploy', owner: 'me'}],
      })
      expect((await lock('deploy', 'you')).status).toBe(409)
      await empty()
      expect([
        (await issue()).status,
        (await lock('other', 'you')).status,
        (await document(1, 'second')).status,
      ]).toEqual([200, 200, 200])
    } finally {
      await head.stop()
      await rm(join(disk, 'filler'), {force: true})
      await rm(folder, {recursive: true, force: true})
    }
  })
})

describe('uploads', () => {
  let server: TestServer
  let mlflow: StandIn
  beforeAll(async () => {
    if (!isMounted) return
    mlflow = await standIn()
    await mkdir(join(disk, 'head'))
    server = await openTestServer({floor: 16 * MIB}, {folder: join(disk, 'head'), mlflowSocket: mlflow.socket})
  })
  afterAll(async () => {
    await server?.close()
    await mlflow?.stop()
  })

  const put = (size: number, chunked = false): Promise<Response> => {
    const body = chunked
      ? new ReadableStream({
          pull: (() => {
            let left = size
            return (controller: ReadableStreamDefaultController) => {
              const step = Math.min(left, MIB)
              left -= step
              controller.enqueue(new Uint8Array(step))
              if (left === 0) controller.close()
            }
          })(),
        })
      : new Uint8Array(size)
    return fetch(`${server.url}/api/2.0/mlflow-artifacts/artifacts/1/x`, {
      method: 'PUT',
      headers: {authorization: `Bearer ${server.admin}`},
      body,
      ...(chunked && {duplex: 'half'}),
    } as RequestInit)
  }

  test('leave a floor of the disk free, also in chunks, and of those under way each its part', async (context) => {
    if (!isMounted) return context.skip()
    await fill(24 * MIB) // the floor is a tenth of 40 MiB: 20 MiB may come
    expect((await put(10 * MIB)).status).toBe(200)
    expect((await put(10 * MIB, true)).status).toBe(200)
    const refused = await put(21 * MIB)
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      507,
      '30',
      {error_code: 'RESOURCE_EXHAUSTED', message: expect.stringContaining('there is no room')},
    ])
    expect((await put(30 * MIB, true)).status).toBe(507)
    const statuses = await Promise.all(Array.from({length: 4}, async () => (await put(12 * MIB)).status))
    expect(statuses).toContain(200)
    expect(mlflow.seen.every((call) => Number(call.split(' ')[2]) <= 12 * MIB)).toBe(true)
    await empty()
    expect((await put(30 * MIB)).status).toBe(200)
  })

  // A run that logs without end would fill it through MLflow's database.
  test('end before what else a run writes, and its end finds room when nothing of that does', async (context) => {
    if (!isMounted) return context.skip()
    const issued = await server.call('POST', '/flexrack/v1/tokens', {
      body: {kind: 'run', run_id: RUN, experiment_id: '1', ttl_seconds: 600},
    })
    const {token} = (await issued.json()) as {token: string}
    const log = async (path: string): Promise<number> =>
      (await server.call('POST', `/api/2.0/mlflow/runs/${path}`, {body: {run_id: RUN}, token})).status
    await fill(3 * MIB) // of a tenth of 40 MiB, uploads leave 4, and all that runs write 2
    expect((await put(MIB)).status).toBe(507)
    expect(await log('log-batch')).toBe(200)
    await empty()
    await fill(MIB)
    expect(await log('log-batch')).toBe(507)
    expect(await log('update')).toBe(200)
    await empty()
  })
})
