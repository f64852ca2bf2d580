import {execFileSync} from 'node:child_process'
import {readdir, readFile, readlink, stat, writeFile} from 'node:fs/promises'
import {dirname, join} from 'node:path'
import {afterAll, beforeAll, expect, test, vi} from 'vitest'
import {makeContext, readPythonLocks} from '../../src/lib/base/index.ts'
import {
  findEvents,
  planBoard,
  showBoard,
  type BoardEvent,
  type BoardLink,
  type BoardWish,
  type FoundEvents,
} from '../../src/lib/board/index.ts'
import {openHost} from '../../src/lib/host/index.ts'
import {openRuns, type FoundRun} from '../../src/lib/runs/index.ts'
import {throughJson} from '../support/through-json.ts'
import {startTrainRack, type TrainRack} from '../support/train.ts'

let setup: TrainRack
beforeAll(async () => {
  setup = await startTrainRack(2)
}, 900_000)
afterAll(() => setup?.stop())

const context = (signal?: AbortSignal) => makeContext({env: setup.rack.env, ...(signal && {signal})})
const place = () => ({rack: setup.rack.rack, fleet: setup.rack.fleet()})

// TensorBoard's own writer, of its own packages, as the ranks' environment. Rank 1 writes below FLEXRACK_OUTPUTS. The
// one of before the run is another one's.
const SCRIPT = `import os, time
from tensorboard.summary import Writer
rank = int(os.environ["RANK"])
os.makedirs("logs", exist_ok=True)
open("logs/events.out.tfevents.1600000000.other.1.0", "w").close()
writer = Writer(os.path.join(os.environ["FLEXRACK_OUTPUTS"], "tb") if rank else "logs/train")
for step in range(20): writer.add_scalar("loss", rank + 1 / (step + 1), step)
writer.flush()
if rank:
    other = Writer(os.path.join(os.environ["FLEXRACK_OUTPUTS"], "bad"))
    for step in range(20): other.add_scalar("loss", step, step)
    other.close()
print("written", flush=True)
while not os.path.exists(os.environ["GO"]): time.sleep(0.05)
writer.add_scalar("loss", 7.5 + rank, 20)
writer.close()
`
const VALUES = [0, 1].map((rank) => Array.from({length: 20}, (_, step) => Math.fround(rank + 1 / (step + 1))))

interface Shown {
  link: BoardLink
  events: BoardEvent[]
  over: Promise<void>
}

/** Shows a run as the command does, until `signal` or by itself. */
async function show(run: FoundRun, how: Partial<BoardWish>, signal?: AbortSignal): Promise<Shown> {
  const wish: BoardWish = {
    id: `test${Math.floor(Math.random() * 1e6)}`,
    runs: [run],
    rank: undefined,
    idle: 600,
    limit: 1e9,
    ...how,
  }
  const found = await findEvents(place(), [run], undefined, context())
  const events: BoardEvent[] = []
  let over: Promise<void> | undefined
  const link = await new Promise<BoardLink>((resolve, reject) => {
    over = showBoard(
      throughJson(planBoard(wish, found)),
      wish,
      {place: place(), port: undefined, onLink: resolve, onEvent: (event) => events.push(event)},
      context(signal),
    )
    over.catch(reject)
  })
  return {link, events, over: over as Promise<void>}
}

async function ask(
  link: BoardLink,
  path: string,
  headers: Record<string, string> = {},
): Promise<{status: number; body: string; headers: Headers}> {
  const {request} = await import('node:http')
  return new Promise((resolve, reject) => {
    request(
      {port: link.port, host: '127.0.0.1', path, headers: {Host: `127.0.0.1:${link.port}`, ...headers}},
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            headers: new Headers(answer.headers as Record<string, string>),
          }),
        )
      },
    )
      .on('error', reject)
      .end()
  })
}

async function login(link: BoardLink): Promise<{get: <T>(path: string) => Promise<T>}> {
  const {pathname, search} = new URL(link.url)
  const entered = await ask(link, `${pathname}${search}`)
  expect(entered).toMatchObject({status: 303})
  const cookie = entered.headers.get('set-cookie')!
  expect(cookie).toMatch(new RegExp(`; Path=${pathname}; HttpOnly; SameSite=Strict$`))
  return {
    get: async (path) => JSON.parse((await ask(link, `${pathname}${path}`, {Cookie: cookie.split(';')[0]!})).body),
  }
}

test(
  'event files of two nodes are shown by attempt and rank, with what is added; only who has the token sees them; afterwards nothing is left',
  {timeout: 600_000},
  async () => {
    const go = join(setup.folder, '..', `${Date.now()}.go`)
    const {trained} = await setup.train(SCRIPT, {
      requirements: readPythonLocks(['tensorboard']),
      spec: {env: {GO: go}},
      detach: true,
    })
    const runs = openRuns(place(), context())
    const run = await runs.find(trained.run)
    const found = await vi.waitFor(
      async () => {
        const now = await findEvents(place(), [run], undefined, context())
        expect(now.nodes.map((one) => one.files.map(({rank, folder, bytes}) => [rank, folder, bytes > 500]))).toEqual([
          [[0, 'logs/train', true]],
          [
            [1, 'bad', true],
            [1, 'tb', true],
          ],
        ])
        return now
      },
      {timeout: 120_000, interval: 200},
    )
    const bad = found.nodes[1]!.files.find(({folder}) => folder === 'bad')
    const bytes = await readFile(bad!.path)
    bytes[bytes.length >> 1]! ^= 0xff
    await writeFile(bad!.path, bytes)
    expect(() => planBoard({id: 'x', runs: [run], rank: undefined, idle: 1, limit: 100}, found)).toThrow(/--rank|100 B/)
    expect(() => planBoard({id: 'x', runs: [run], rank: 3, idle: 1, limit: 100}, none(found))).toThrow(
      /wrote no event files as rank 3/,
    )

    const stop = new AbortController()
    const {link, events, over} = await show(run, {}, stop.signal)
    const {pathname} = new URL(link.url)
    expect((await ask(link, `${pathname}data/runs`)).status).toBe(401)
    expect((await ask(link, `${pathname}?token=wrong`)).status).toBe(401)
    expect((await ask(link, pathname, {Cookie: 'flexrack_board=wrong'})).status).toBe(401)
    const {search} = new URL(link.url)
    expect((await ask(link, `${pathname}${search}`, {Host: `evil.example:${link.port}`})).status).toBe(403)
    const {get} = await login(link)
    const names = [`${run.run}/attempt-1/rank-0/logs/train`, `${run.run}/attempt-1/rank-1/tb`]
    const scalars = async (name: string): Promise<number[]> =>
      (
        await get<[number, number, number][]>(`data/plugin/scalars/scalars?tag=loss&run=${encodeURIComponent(name)}`)
      ).map((one) => one[2])
    await vi.waitFor(
      async () =>
        expect((await get<string[]>('data/runs')).toSorted()).toEqual([
          names[0],
          `${run.run}/attempt-1/rank-1/bad`,
          names[1],
        ]),
      {timeout: 60_000, interval: 200},
    )
    for (const [rank, name] of names.entries()) expect(await scalars(name)).toEqual(VALUES[rank])
    await nobodyElseReaches(link, search.slice('?token='.length))

    await writeFile(go, '')
    await runs.wait(run, 60)
    for (const [rank, name] of names.entries())
      await vi.waitFor(async () => expect(await scalars(name)).toEqual([...VALUES[rank]!, 7.5 + rank]), {
        timeout: 60_000,
        interval: 200,
      })
    await vi.waitFor(() => expect(events.map((one) => one.event).toSorted()).toEqual(['damaged', 'loaded']), {
      timeout: 60_000,
      interval: 100,
    })
    expect(events).toContainEqual({
      event: 'damaged',
      file: `${run.run}/attempt-1/rank-1/bad/${bad!.name}`,
      why: 'a checksum is wrong',
    })
    stop.abort()
    await over
    await nothingIsLeft()

    // Nobody looks: it ends itself, and the command with it.
    const again = await show(run, {idle: 1})
    await again.over
    expect(again.events.at(-1)).toEqual({event: 'ended', why: 'idle'})
    await nothingIsLeft()
    await runs.close()
  },
)

function none(found: FoundEvents): FoundEvents {
  return {...found, nodes: found.nodes.map((one) => ({...one, files: [], bytes: 0, live: false}))}
}

/**
 * The token is in no argument, environment or log; the socket is its owner's; what listens on a port does so in a
 * network of its own.
 */
async function nobodyElseReaches(link: BoardLink, token: string): Promise<void> {
  const pids = await boardPids()
  expect(pids.length).toBeGreaterThan(0)
  for (const pid of pids) {
    for (const file of ['cmdline', 'environ'])
      expect(await readFile(`/proc/${pid}/${file}`, 'latin1')).not.toContain(token)
    const inodes = await Promise.all(
      (await readdir(`/proc/${pid}/fd`)).map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')),
    )
    const listening = (await readFile('/proc/self/net/tcp', 'utf8'))
      .split('\n')
      .filter((line) => / 0A /.test(line))
      .map((line) => `socket:[${line.trim().split(/\s+/)[9]}]`)
    expect(inodes.filter((one) => listening.includes(one))).toEqual([])
  }
  const host = await openHost(
    place().fleet,
    setup.rack.rack.nodes.find(({name}) => name === link.node)!,
    context(),
  )
  const {socket} = await host.call('board.access', {id: new URL(link.url).pathname.split('/')[1]!})
  expect((await stat(socket)).mode & 0o077).toBe(0)
  expect((await stat(dirname(socket))).mode & 0o077).toBe(0)
  const holding = execFileSync('grep', ['-rlsF', '--', token, host.root], {encoding: 'utf8'}).trim().split('\n')
  expect(holding.map((one) => one.split('/').at(-1))).toEqual(['token'])
  expect((await stat(holding[0]!)).mode & 0o777).toBe(0o600)
}

async function boardPids(): Promise<number[]> {
  const found: number[] = []
  for (const name of (await readdir('/proc')).filter((one) => /^\d+$/.test(one))) {
    if ((await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')).includes('FLEXRACK_TAG=service-board-test'))
      found.push(Number(name))
  }
  return found
}

async function nothingIsLeft(): Promise<void> {
  expect(await boardPids()).toEqual([])
  for (const {name} of setup.rack.rack.nodes) {
    const {root} = await openHost(
      place().fleet,
      setup.rack.rack.nodes.find((one) => one.name === name)!,
      context(),
    )
    expect([
      name,
      await readdir(join(root, 'boards')).catch(() => []),
      (await readdir(join(root, 'services')).catch(() => [])).filter((one) => one.startsWith('board-')),
    ]).toEqual([name, [], []])
  }
}
