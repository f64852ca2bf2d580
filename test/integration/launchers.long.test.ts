import {createHash} from 'node:crypto'
import {mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import {openRuns, stopRun, type RankLine, type Runs} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type Trained} from '../../src/lib/train/index.ts'
import {buildEnvironments} from '../support/built-environments.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {readListening} from '../support/sockets.ts'
import {processesOf} from '../support/tagged.ts'

const script = (name: string): Promise<string> =>
  readFile(new URL(`../fixtures/launchers/${name}_sum.py`, import.meta.url), 'utf8')
/** Clusters and trainings of several nodes on one machine, which may be busy. */
vi.setConfig({testTimeout: 1_800_000})
/** Ray's workers are as nice as can be, and get nothing done where a machine has other work. */
const EAGER = {RAY_worker_niceness: '0'}
const FRAMEWORKS = new URL('../fixtures/tracking/frameworks.txt', import.meta.url)

describe.skipIf(!mayMakeNetworks())(
  'launchers that are packages of the environment, on nodes with networks of their own',
  () => {
    let net: TestNetRack
    let folder: string
    let fleet: Fleet
    let runs: Runs
    let requirements: string
    const context = makeContext({env: process.env})
    beforeAll(async () => {
      requirements = await readFile(FRAMEWORKS, 'utf8')
      await buildEnvironments([requirements])
      net = await startNetRack(2, await sharedEnvironments())
      folder = await mkdtemp(join(tmpdir(), 'flexrack-launchers-'))
      fleet = openFleet(net.rack.nodes, context)
      runs = openRuns({rack: net.rack, fleet}, context)
    }, 1_800_000)
    afterAll(async () => {
      await fleet?.close()
      await net?.stop()
      await rm(folder, {recursive: true, force: true})
    })

    async function train(
      launcher: TrainSpec['launcher'],
      env: Record<string, string> = {},
      on: {line?: string; act?: (run: string) => Promise<unknown>} = {},
    ): Promise<{trained: Trained; lines: RankLine[]}> {
      await writeFile(join(folder, 'requirements.txt'), requirements)
      await writeFile(join(folder, 'train.py'), await script(launcher))
      const manifest: Manifest = {
        path: join(folder, 'flexrack.yaml'),
        folder,
        name: 'launched',
        workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
        train: {
          command: ['train.py'],
          launcher,
          nodes: 2,
          processesPerNode: launcher === 'ray' ? 1 : 2,
          restarts: 0,
          outputs: [],
          env: {...EAGER, ...env},
          grace: 5,
        },
        tracking: {experiment: 'launched'},
        endpoints: {},
      }
      const place = {manifest, rack: net.rack, fleet}
      const plan = await planTrain(
        place,
        {args: [], tracking: false, preflight: {skip: ['bandwidth', 'disk', 'shm'], force: false}},
        context,
      )
      const lines: RankLine[] = []
      let acting: Promise<unknown> | undefined
      const trained = await runPlan(
        plan,
        place,
        {
          detach: false,
          onLines: (some) => {
            lines.push(...some)
            if (on.line !== undefined && lines.some((line) => line.text === on.line)) acting ??= on.act?.(plan.spec.run)
          },
        },
        context,
      )
      await acting
      expect(trained.left).toEqual({'node-1': [], 'node-2': []})
      expect(await processesOf(trained.run)).toEqual([])
      const scratch = `flexrack-ray-${createHash('sha256').update(`${process.geteuid?.()} ${trained.run} 1`).digest('hex').slice(0, 12)}`
      expect(await readdir(tmpdir())).not.toContain(scratch)
      return {trained, lines}
    }

    const said = (lines: RankLine[], start: string): string[] =>
      lines
        .filter((line) => line.text.startsWith(start))
        .map((line) => line.text)
        .toSorted((a, b) => a.localeCompare(b))

    test('deepspeed: ranks of both nodes reduce, and train with ZeRO', async () => {
      const {trained, lines} = await train('deepspeed')
      expect(trained, JSON.stringify(lines)).toMatchObject({status: 'finished', worldSize: 4})
      expect(said(lines, 'sum')).toEqual(
        [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} of 4 on node-${rank < 2 ? 1 : 2} ${rank % 2} None`),
      )
      expect(said(lines, 'trained')).toEqual(Array.from({length: 4}, () => 'trained DeepSpeedEngine stage 1'))
    })

    test('deepspeed: a rank that exits with 17 ends all, and is the first cause', async () => {
      const {trained} = await train('deepspeed', {FAILING_RANK: '3'})
      expect(trained).toMatchObject({status: 'failed', cause: {kind: 'rank', rank: 3, node: 'node-2', exit: 17}})
    })

    test('ray: the script finds a cluster of both nodes; tasks, Ray Data and Ray Train work, and workers are heard', async () => {
      const {trained, lines} = await train('ray', {FAILING: 'none'})
      expect(trained, JSON.stringify(lines)).toMatchObject({status: 'finished', worldSize: 2})
      expect(said(lines, 'nodes')).toEqual(['nodes 2 node-1 rank None'])
      expect(said(lines, 'ran on')).toEqual(['ran on node-1 node-2'])
      expect(said(lines, 'data')).toEqual(['data 9900'])
      expect(said(lines, 'trained')).toEqual(['trained'])
      expect(lines.some((line) => line.text.includes('train 3.0 2'))).toBe(true)
      // On nodes with one disk both of Ray's monitors find each line.
      for (const worker of [0, 1])
        expect(lines.some((line) => line.text.includes(`worker ${worker} says hello`))).toBe(true)
    })

    test("ray: the script's exit status is the run's, and the other node ends with it", async () => {
      const {trained} = await train('ray', {FAILING: 'script'})
      expect(trained).toMatchObject({status: 'failed', cause: {kind: 'rank', rank: 0, node: 'node-1', exit: 17}})
    })

    test('ray: a raylet that is killed on the second node ends the run', async () => {
      const {trained} = await train(
        'ray',
        {FAILING: 'wait'},
        {line: 'waiting', act: (run) => killRaylet(run, 'node-2')},
      )
      expect(trained).toMatchObject({
        status: 'failed',
        cause: {kind: 'rank', rank: 1, node: 'node-2', exit: 1, message: 'Ray has ended on this node'},
      })
    })

    test('ray: a stop ends it everywhere; meanwhile nobody gets in without the token, and the dashboard is on loopback', async () => {
      const sockets: string[] = []
      const refused: string[] = []
      let port = 0
      const {trained} = await train(
        'ray',
        {FAILING: 'wait'},
        {
          line: 'waiting',
          act: async (run) => {
            const folders = (await runs.show(run)).folders['node-1'] as string
            const {python} = JSON.parse(await readFile(join(folders, 'spec.json'), 'utf8')) as {python: string}
            const {dashboard, address} = JSON.parse(await readFile(join(folders, 'attempts/1/ray.json'), 'utf8')) as {
              dashboard: number
              address: string
            }
            port = dashboard
            for (const {name} of net.rack.nodes)
              sockets.push(
                ...readListening(net.inside(name, 'ss', '-Hlntupx'))
                  .filter((one) => /ray/i.test(one.command))
                  .map((one) => `${name}, ${one.where}: ${one.name} ${one.command}`),
              )
            expect(
              net.inside(
                'node-1',
                'curl',
                '-s',
                '-o',
                '/dev/null',
                '-w',
                '%{http_code}',
                `http://127.0.0.1:${dashboard}/api/jobs/`,
              ),
            ).toBe('401')
            const enter = `import ray\ntry:\n  ray.init(address="${address}")\n  print("ACCEPTED")\nexcept Exception as error:\n  print(type(error).__name__)`
            for (const given of [
              ['RAY_AUTH_MODE=token', `RAY_AUTH_TOKEN=${'0'.repeat(64)}`],
              ['RAY_AUTH_MODE=disabled'],
            ]) {
              refused.push(
                net
                  .inside('node-2', 'timeout', '60', 'env', ...given, python, '-c', enter)
                  .trim()
                  .split('\n')
                  .at(-1) ?? '',
              )
            }
            const forwarded = await runs.dashboard(await runs.find(run))
            const ask = async (headers: Record<string, string>): Promise<number> =>
              (await fetch(`${forwarded.url}/api/cluster_status`, {headers})).status
            expect([await ask({}), await ask({authorization: `Bearer ${forwarded.token.reveal()}`})]).toEqual([
              401, 200,
            ])
            await forwarded.close()
            await stopRun(runs.place, await runs.find(run), {}, context)
          },
        },
      )
      expect(trained.status).toBe('stopped')
      expect(
        refused.filter((one) => one === 'ACCEPTED'),
        refused.join(),
      ).toEqual([])
      expect(refused).toHaveLength(2)
      // What Ray would serve to anybody is off: its client server and three servers of metrics.
      const open = sockets.filter((one) => one.includes('all addresses: tcp'))
      console.log(open.map((one) => one.replace(/\S*\/(?=[^/]+)/g, '').slice(0, 120)).join('\n'))
      expect(open.filter((one) => /client.server|monitor\.py|dashboard\.py/.test(one))).toEqual([])
      // Ray has no setting that keeps its other ports off a node's other addresses: docs/security.md says so.
      expect(
        sockets.filter((one) => new RegExp(`^[^:]+: tcp \\S*:${port} `).test(one)).map((one) => one.split(':')[0]),
      ).toEqual(['node-1, loopback'])
    })

    async function killRaylet(run: string, node: string): Promise<void> {
      for (const {pid} of await processesOf(run)) {
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
        if (command.split('\0')[0]?.endsWith('/raylet') && environment.includes(`FLEXRACK_NODE=${node}\0`))
          process.kill(pid, 'SIGKILL')
      }
    }
  },
)
