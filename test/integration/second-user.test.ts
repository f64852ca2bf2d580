import {mkdir, readFile, readdir, stat, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {Secret, type CliError} from '../../src/lib/base/index.ts'
import {connectHead, type HeadConnection} from '../../src/lib/head/index.ts'
import {serviceStatus, startService} from '../../src/lib/host/index.ts'
import type {Manifest} from '../../src/lib/manifest/index.ts'
import {reserveGang, type GangReservation} from '../../src/lib/reservation/index.ts'
import {openRuns, stopRun, type FoundRun} from '../../src/lib/runs/index.ts'
import {planTrain, runPlan} from '../../src/lib/train/index.ts'
import {trackingSpec} from '../../src/lib/train/track.ts'
import {MAKE_SCRATCH, below, postMetric, rankScript, secretsOf, startDoor, until} from '../support/second-user-owner.ts'
import {fileOf, listenersOf, startTwoAccounts, whyNoAccounts, type TwoAccounts} from '../support/second-user.ts'

const missing = whyNoAccounts()
if (missing !== undefined) console.error(`SKIPPED: nothing is known here about a second user of a node: ${missing}`)

/** What one thing of the owner's may take, whatever somebody else does. */
const PATIENCE_MS = 120_000
const RUN_TOKEN = 'fxrun-8d0f7c6b5a49382716f5e4d3c2b1a098'

describe.skipIf(missing !== undefined)(
  `two accounts on one node${missing === undefined ? '' : ` (SKIPPED: ${missing})`}`,
  () => {
    let two: TwoAccounts
    let head: HeadConnection
    let run: FoundRun
    let relay: {port: number; token: string}
    let go: string
    /** Of the owner: where links of the other point. Their text is the same in the end. */
    let victims: string[]
    const started: number[] = []

    const prefix = (): string => `flexrack-reservations-${two.owner.uid}`
    const reserve = (lease: string): Promise<GangReservation> =>
      reserveGang([two.host], {lease, project: 'p', wants: {gpus: [], slots: 1, exclusive: false}}, {}, two.context)
    const reserveOnce = async (lease: string): Promise<void> => (await reserve(lease)).release()
    const leases = async (): Promise<string[]> =>
      (await two.host.call('reservation.list', null)).reservations.map((one) => one.lease)
    const within = async <T>(what: Promise<T>): Promise<T> => {
      const begin = Date.now()
      try {
        return await what
      } finally {
        expect(Date.now() - begin).toBeLessThan(PATIENCE_MS)
      }
    }

    beforeAll(async () => {
      two = await startTwoAccounts()
      victims = await Promise.all(
        [0, 1].map((number) =>
          fileOf(two.owner, join(two.owner.home, `victim-${number}`), `of the owner ${number}`, number ? 0o644 : 0o600),
        ),
      )
      go = join(two.owner.home, 'go')
    })
    afterAll(() => two?.stop())

    test('names that were taken beforehand, in every way, hinder nobody; where all are taken, that is told with the place', async () => {
      await two.otherDoes('squat', {place: two.place, prefix: prefix(), count: 100, victims})
      const refused = await within(reserve('squatted').catch((error: unknown) => error as CliError))
      expect(refused).toMatchObject({code: 'NODE_UNFIT', message: expect.stringContaining(`in ${two.place}`)})
      await two.otherDoes('clear', {place: two.place})
      const made = await two.otherDoes<Record<string, number>>('squat', {
        place: two.place,
        prefix: prefix(),
        count: 12,
        victims,
      })
      expect(made).toMatchObject({folder: 2, symlink: 2, dangling: 2, fifo: 2})
      const gang = await within(reserve('held'))
      await two.otherDoes('poison', {
        place: two.place,
        victims,
        record: join(two.place, `${prefix()}-12`, (await readdir(join(two.place, `${prefix()}-12`)))[0] as string),
      })
      expect(await within(leases())).toEqual(['held'])
      expect(
        await two.otherDoes('destroy', {
          paths: [join(two.place, `${prefix()}-12`), ...(await below(join(two.place, `${prefix()}-12`))), ...victims],
          own: join(two.place, 'own'),
        }),
      ).toEqual([])
      await within(gang.release())
      expect(await readdir(two.owner.home)).not.toContain('made-through-a-link')
    })

    test('a race for every name, while reservations come and go, loses none of them', async () => {
      await two.otherDoes('clear', {place: two.place})
      const racing = await two.otherBegins('race', {
        names: ['', '-1', '-2'].map((end) => join(two.place, prefix() + end)),
        target: two.owner.home,
      })
      try {
        for (let round = 0; round < 5; round++) await within(reserveOnce(`race-${round}`))
      } finally {
        await racing.end()
      }
      await two.otherDoes('clear', {place: two.place})
      expect(await readdir(two.place)).toEqual([])
      expect((await readdir(two.owner.home)).filter((name) => name.endsWith('.json'))).toEqual([])
    })

    test("a race for the name of a launcher's folder never has it work in somebody else's", async () => {
      const name = `/dev/shm/flexrack-mpi-${two.owner.uid}-raced.1`
      const own = join(two.owner.home, 'own-folder')
      const [program] = await readdir(join(two.roots[0] as string, 'program'))
      expect(program).toBeDefined()
      const racing = await two.otherBegins('swap', {name, target: own})
      const taken = await two
        .ownerRuns(MAKE_SCRATCH, [join(two.roots[0] as string, 'program', program as string), 'raced.1', own])
        .finally(async () => {
          await racing.end()
          await two.otherDoes('clear', {place: '/dev/shm'})
        })
      const {strange, refused} = JSON.parse(taken) as {strange: number; refused: string[]}
      expect(strange).toBe(0)
      expect(refused.length).toBeGreaterThan(0)
      for (const why of refused) expect(why).toContain(name)
    })

    test('a head, a service and a run of two ranks start beside all that', async () => {
      await two.otherDoes('squat', {place: two.place, prefix: prefix(), count: 6, victims})
      await startService(two.host, {
        id: 'counter',
        argv: ['sh', '-c', 'while :; do echo tick; sleep 0.2; done'],
        grace: 1,
      })
      await startDoor(two)
      head = await until(() => connectHead(two.rack, two.fleet, two.context).catch(() => undefined))
      await until(() => head.request('GET', '/flexrack/v1/status').catch(() => undefined))
      const folder = join(two.folder, 'project')
      await mkdir(folder, {recursive: true})
      await writeFile(join(folder, 'train.py'), rankScript(go, two.owner.home))
      const manifest: Manifest = {
        path: join(folder, 'flexrack.yaml'),
        folder,
        name: 'proj',
        workspace: {exclude: [], forward: [], env: {}},
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
        tracking: {experiment: 'proj'},
        endpoints: {},
      }
      const place = {manifest, rack: two.rack, fleet: two.fleet}
      const plan = await planTrain(place, {args: [], tracking: false}, two.context)
      // As the record of a run would be at MLflow, which takes minutes to build: the head says that MLflow is away, and
      // the relay keeps what comes.
      const tracking = trackingSpec({
        runId: 'r',
        experimentId: '1',
        artifactUri: '',
        upstream: head.nodeUri,
        ca: head.nodeCa,
        token: new Secret(RUN_TOKEN),
        authorization: new Secret(`Bearer ${head.token.reveal()}`),
        isOwn: false,
        commit: undefined,
      })
      for (const step of plan.plan.steps) if (step.kind === 'train.start') Object.assign(step.input.spec, {tracking})
      const trained = await within(runPlan(plan, place, {detach: true, onLines: () => {}}, two.context))
      run = await openRuns({rack: two.rack, fleet: two.fleet}, two.context).find(trained.run)
      relay = await until(
        async () =>
          JSON.parse(await readFile(join(two.owner.home, 'relay.json'), 'utf8').catch(() => 'null')) as {
            port: number
            token: string
          } | null,
      )
      const first = await two.processesOf(two.owner)
      await pause(1000)
      started.push(...(await two.processesOf(two.owner)).filter((pid) => first.includes(pid))) // not what comes and goes
      expect(started.length).toBeGreaterThan(5)
      expect(await postMetric(relay)).toBe(200)
    })

    test('no signal arrives, and of a process its name and command are all that is seen, without a secret in them', async () => {
      const found = await two.otherDoes<{signalled: unknown[]; readable: unknown[]; commands: Record<string, string>}>(
        'processes',
        {pids: await two.processesOf(two.owner)},
      )
      expect(found).toMatchObject({signalled: [], readable: []})
      const secrets = await secretsOf(two)
      expect(secrets.length).toBeGreaterThan(3)
      const shown = Object.values(found.commands).join('\n')
      expect(shown).toContain('head-service') // they were seen at all
      expect(secrets.filter((one) => shown.includes(one))).toEqual([])
    })

    test('no file of it can be read, listed or changed', async () => {
      for (const root of two.roots) expect((await stat(root)).mode & 0o777).toBe(0o700)
      const paths = (await Promise.all(two.roots.map(below))).flat()
      expect(paths.length).toBeGreaterThan(50)
      expect(await two.otherDoes('read', {paths})).toEqual([])
      expect(await two.otherDoes('destroy', {paths, own: join(two.place, 'own')})).toEqual([])
    })

    test('what listens tells nothing without the right token, and goes on', async () => {
      const {ports, sockets} = await listenersOf(two.owner)
      expect(ports.length).toBeGreaterThanOrEqual(5) // the head twice, two relays, the leader of the run
      const calls = [
        '\0\xff\xfe garbage\r\n\r\n',
        '{"challenge": 1}\n',
        'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET /flexrack/v1/status HTTP/1.1\r\nHost: x\r\n\r\n',
        ...['admin', RUN_TOKEN.slice(0, -1), `${'0'.repeat(64)}`].flatMap((token) => [
          `GET /flexrack/v1/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`,
          `POST /api/2.0/mlflow/runs/log-metric HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2\r\n\r\n{}`,
        ]),
      ]
      const {heard, opened} = await two.otherDoes<{
        heard: {port: number; call: string; answer: string}[]
        opened: string[]
      }>('connect', {ports, sockets, calls})
      expect(opened).toEqual([])
      expect(heard.filter(({answer}) => /^HTTP\/1\.\d 2/.test(answer))).toEqual([])
      expect(heard.some(({answer}) => / 401 /.test(answer))).toBe(true)
      for (const secret of await secretsOf(two)) expect(heard.filter(({answer}) => answer.includes(secret))).toEqual([])
      expect(await postMetric(relay)).toBe(200)
    })

    test('a thousand connections to every port, held open, take no place of the owner', async () => {
      const {ports} = await listenersOf(two.owner)
      const flood = await two.otherBegins('flood', {ports, count: 1200})
      try {
        const end = Date.now() + 8000 // longer than a supervisor may be blind to its reservation
        while (Date.now() < end) {
          expect(await within(postMetric(relay))).toBe(200)
          await within(head.request('GET', '/flexrack/v1/status'))
          await pause(500)
        }
        expect((await serviceStatus(two.host, 'counter')).state).toBe('running')
      } finally {
        await flood.end()
      }
      expect(await statusOf()).toBe('running')
    })

    test('the lock that all share, held for ever, is told with its place and ends no run', async () => {
      const held = await two.otherBegins('lock', {place: two.place})
      try {
        const refused = await within(reserve('locked').catch((error: unknown) => error as CliError))
        expect(refused).toMatchObject({code: 'LOCKED', hint: expect.stringContaining(two.place)})
        expect(await statusOf()).toBe('running')
      } finally {
        await held.end()
      }
      await within(reserveOnce('unlocked'))
    })

    test('a full disk is told with its place and ends no run', async (context) => {
      if (!two.isSmall) return context.skip('no file system can be mounted here')
      expect(await two.otherDoes('fill', {place: two.place})).toBeGreaterThan(0)
      const refused = await within(reserve('full').catch((error: unknown) => error as CliError))
      expect(refused).toMatchObject({code: 'NODE_UNFIT', message: expect.stringContaining(two.place)})
      expect(await statusOf()).toBe('running')
      await two.otherDoes('clear', {place: two.place})
      await within(reserveOnce('emptied'))
    })

    test('after all that nothing of the owner has ended or changed', async () => {
      const alive = new Set(await two.processesOf(two.owner))
      expect(started.filter((pid) => !alive.has(pid))).toEqual([])
      expect(await Promise.all(victims.map((path) => readFile(path, 'utf8')))).toEqual([
        'of the owner 0',
        'of the owner 1',
      ])
      await fileOf(two.owner, go, '')
      expect(await until(async () => ((await statusOf()) === 'running' ? undefined : statusOf()))).toBe('finished')
      await stopRun({rack: two.rack, fleet: two.fleet}, run, {kill: true}, two.context).catch(() => {})
      expect(await until(async () => ((await leases()).length === 0 ? true : undefined))).toBe(true)
    })

    const statusOf = async (): Promise<string | undefined> =>
      (await openRuns({rack: two.rack, fleet: two.fleet}, two.context).list({all: true, limit: 5})).runs.find(
        (one) => one.run === run.run,
      )?.status
  },
)
