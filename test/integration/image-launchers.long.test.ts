import {execFileSync} from 'node:child_process'
import {mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join, resolve} from 'node:path'
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openRuns, stopRun, type RankLine, type Runs} from '../../src/lib/runs/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type Trained} from '../../src/lib/train/index.ts'
import {buildEnvironments} from '../support/built-environments.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {processesOf} from '../support/tagged.ts'

/**
 * Trainings of several nodes on one machine, which may be busy. The image has PyTorch, Ray and DeepSpeed, and the
 * compiler, ninja and headers of Python that DeepSpeed needs on CPUs.
 */
vi.setConfig({testTimeout: 1_800_000})
const EAGER = {RAY_worker_niceness: '0'}
const FRAMEWORKS = new URL('../fixtures/tracking/frameworks.txt', import.meta.url)
/** What none of the launchers needs, and which would only make the image larger. */
const OTHERS =
  /^(catboost|databricks-sdk|docker|flask.*|fonttools|graphene|gunicorn|h5py|huey|keras|lightgbm|lightning|matplotlib|mlflow.*|optuna.*|plotly|pytorch-lightning|scikit-learn|scipy|skops|sqlalchemy|torchmetrics|transformers|xgboost-cpu)==/
const COMPILER = [
  ...['gcc', 'gcc-12', 'g++', 'g++-12', 'cpp-12', 'libgcc-12-dev', 'libstdc++-12-dev', 'libc6-dev', 'linux-libc-dev'],
  ...['binutils', 'binutils-x86-64-linux-gnu', 'libisl23', 'libmpc3', 'libmpfr6', 'libgmp10', 'libgomp1', 'libcc1-0'],
  ...['libcrypt-dev', 'libpython3-dev', 'libpython3.11-dev', 'ninja-build'],
]
const OPEN_MPI = ['openmpi-bin', 'openmpi-common', 'libopenmpi3', 'libpmix2']

const TORCHRUN = `import os, signal, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
system = open("/etc/os-release").read().split()[1]
print(f"sum {int(total.item())} rank {dist.get_rank()} of {dist.get_world_size()} {system} {torch.__file__}", flush=True)
if os.environ.get("FOREVER"):
    signal.signal(signal.SIGTERM, lambda *_: (print("saved", flush=True), sys.exit(0)))
    print("waiting", flush=True)
    while True: time.sleep(0.05)
dist.destroy_process_group()
`
const MPI = `import os
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1.0])
dist.all_reduce(total)
print(f"sum {int(total.item())} rank {dist.get_rank()} of {dist.get_world_size()} {os.environ['OMPI_COMM_WORLD_RANK']} {open('/etc/os-release').read().split()[1]}", flush=True)
dist.destroy_process_group()
`

let folder: string
const context = makeContext({env: process.env})
beforeAll(async () => {
  const requirements = (await readFile(FRAMEWORKS, 'utf8'))
    .split('\n')
    .filter((line) => !OTHERS.test(line))
    .join('\n')
  const python = execFileSync('/usr/bin/python3', ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
    encoding: 'utf8',
  }).trim()
  const [built] = await buildEnvironments([requirements], python)
  folder = await mkdtemp(join(tmpdir(), 'flexrack-image-launchers-'))
  const site = join(built as string, `lib/python${python}/site-packages`)
  execFileSync('python3', [
    resolve(import.meta.dirname, '../node/image_support.py'),
    join(folder, 'layout'),
    `packages=${site}`,
    'program=/bin/bash', // Ray starts workers of another environment by it
    ...[...OPEN_MPI, ...COMPILER].map((one) => `debian=${one}`),
  ])
}, 1_800_000)
afterAll(() => rm(folder, {recursive: true, force: true}))

const project = (
  launcher: TrainSpec['launcher'],
  env: Record<string, string>,
  workspace: Partial<Manifest['workspace']>,
): Manifest => ({
  path: join(folder, 'flexrack.yaml'),
  folder,
  name: 'imaged',
  workspace: {
    image: `oci:${join(folder, 'layout')}:packages`,
    exclude: ['layout', 'extensions'],
    forward: [],
    env: {},
    ...workspace,
  },
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
  tracking: {experiment: 'imaged'},
  endpoints: {},
})

const said = (lines: RankLine[], start: string): string[] =>
  lines
    .filter((line) => line.text.startsWith(start))
    .map((line) => line.text)
    .toSorted((a, b) => a.localeCompare(b))
const sums = [0, 1, 2, 3].map((rank) => `sum 10 rank ${rank} of 4`)

describe.skipIf(!mayMakeNetworks())('every launcher from an image, on two nodes with networks of their own', () => {
  let net: TestNetRack
  let fleet: Fleet
  let runs: Runs
  beforeAll(async () => {
    net = await startNetRack(2, await sharedEnvironments())
    fleet = openFleet(net.rack.nodes, context)
    runs = openRuns({rack: net.rack, fleet}, context)
  }, 1_800_000)
  afterAll(async () => {
    await fleet?.close()
    await net?.stop()
  })

  async function train(
    launcher: TrainSpec['launcher'],
    script: string,
    {
      env = {},
      workspace = {},
      on = {},
    }: {
      env?: Record<string, string>
      workspace?: Partial<Manifest['workspace']>
      on?: {line?: string; act?: (run: string) => Promise<unknown>}
    } = {},
  ): Promise<{trained: Trained; lines: RankLine[]}> {
    await writeFile(join(folder, 'train.py'), script)
    const manifest = project(launcher, env, workspace)
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
    expect((await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes('/images/l/'))).toEqual(
      [],
    )
    expect(
      (await readdir('/dev/shm')).filter((name) => name.includes(trained.run) || name.startsWith('vader_segment')),
    ).toEqual([])
    return {trained, lines}
  }

  const fixture = (name: string): Promise<string> =>
    readFile(new URL(`../fixtures/launchers/${name}_sum.py`, import.meta.url), 'utf8')

  test.each([undefined, {network: 'host' as const}])(
    'torchrun of the image, in the sandbox %o: ranks reduce; a stop lets them save, and nothing is left',
    async (isolate) => {
      const workspace = isolate ? {isolate} : {}
      const {trained, lines} = await train('torchrun', TORCHRUN, {workspace})
      expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 4})
      expect(said(lines, 'sum')).toEqual(
        sums.map((line) => `${line} image" /usr/lib/python3/dist-packages/torch/__init__.py`),
      )
      const stopped = await train('torchrun', TORCHRUN, {
        workspace,
        env: {FOREVER: '1'},
        on: {line: 'waiting', act: async (run) => stopRun(runs.place, await runs.find(run), {}, context)},
      })
      expect(stopped.trained.status, JSON.stringify(stopped.lines)).toBe('stopped')
      expect(said(stopped.lines, 'saved')).toHaveLength(4)
    },
  )

  test('accelerate of the image', async () => {
    const {trained, lines} = await train('accelerate', await fixture('accelerate'))
    expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 4})
    expect(said(lines, 'sum').map((line) => line.replace(/ on .*/, ''))).toEqual(sums)
    expect((await train('accelerate', await fixture('accelerate'), {env: {FAILING_RANK: '3'}})).trained).toMatchObject({
      status: 'failed',
      cause: {kind: 'rank', rank: 3, exit: 17},
    })
  })

  test('DeepSpeed of the image, which compiles there', async () => {
    // Both nodes are on one disk: what one compiles is there for the other.
    const {trained, lines} = await train('deepspeed', await fixture('deepspeed'), {
      env: {TORCH_EXTENSIONS_DIR: join(folder, 'extensions')},
    })
    expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 4})
    expect(said(lines, 'sum').map((line) => line.replace(/ on .*/, ''))).toEqual(sums)
    expect(said(lines, 'trained')).toEqual(Array.from({length: 4}, () => 'trained DeepSpeedEngine stage 1'))
  })

  test('Open MPI of the image', async () => {
    const {trained, lines} = await train('mpi', MPI)
    expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 4})
    expect(said(lines, 'sum')).toEqual(sums.map((line, rank) => `${line} ${rank} image"`))
  })

  test.each([undefined, {network: 'host' as const}])(
    'ray of the image, in the sandbox %o: a cluster of both nodes',
    async (isolate) => {
      const {trained, lines} = await train('ray', await fixture('ray'), {
        env: {FAILING: 'none'},
        ...(isolate && {workspace: {isolate}}),
      })
      expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 2})
      expect(said(lines, 'ran on')).toEqual(['ran on node-1 node-2'])
      expect([said(lines, 'data'), said(lines, 'trained')]).toEqual([['data 9900'], ['trained']])
    },
  )
})

describe('an image in a job of Slurm, entered on its nodes', () => {
  let slurm: TestSlurm
  let sshd: TestSshd
  let rack: Rack
  let fleet: Fleet
  let home: string
  beforeAll(async () => {
    slurm = await startSlurm(2)
    sshd = await startSshd({env: slurm.env})
    home = await mkdtemp(join(tmpdir(), 'flexrack-image-slurm-'))
    const login = {
      ...sshd.target('login'),
      root: `${sshd.home}/.flexrack`,
      environments: await sharedEnvironments(),
      labels: {},
    }
    rack = {
      name: 'cluster',
      path: join(home, 'cluster.yaml'),
      nodes: [login],
      head: {node: 'login', bind: '127.0.0.1'},
      slurm: {login: 'login', extra: []},
    }
    fleet = openFleet(rack.nodes, context)
  }, 600_000)
  afterAll(async () => {
    await fleet?.close()
    await slurm?.stop()
    await sshd?.stop()
    if (home) await rm(home, {recursive: true, force: true})
  })

  test.each([undefined, {network: 'host' as const}])(
    'torchrun of the image, in the sandbox %o: ranks of both nodes reduce; a stop leaves nothing',
    async (isolate) => {
      await writeFile(join(folder, 'train.py'), TORCHRUN)
      const train = async (env: Record<string, string>): Promise<{trained: Trained; lines: RankLine[]}> => {
        const place = {manifest: project('torchrun', env, isolate ? {isolate} : {}), rack, fleet}
        const plan = await planTrain(place, {args: [], tracking: false}, context)
        const lines: RankLine[] = []
        let acting: Promise<unknown> | undefined
        const trained = await runPlan(
          plan,
          place,
          {
            detach: false,
            onLines: (some) => {
              lines.push(...some)
              if (lines.some((line) => line.text === 'waiting')) acting ??= stopped(plan.spec.run)
            },
          },
          context,
        )
        await acting
        expect(await processesOf(trained.run)).toEqual([])
        expect(
          (await readFile('/proc/mounts', 'utf8')).split('\n').filter((line) => line.includes('/images/l/')),
        ).toEqual([])
        return {trained, lines}
      }
      const stopped = async (run: string): Promise<unknown> => {
        const runs = openRuns({rack, fleet}, context)
        return stopRun(runs.place, await runs.find(run), {}, context)
      }
      const {trained, lines} = await train({})
      expect(trained, JSON.stringify([trained.cause, lines])).toMatchObject({status: 'finished', worldSize: 4})
      expect(said(lines, 'sum')).toEqual(
        sums.map((line) => `${line} image" /usr/lib/python3/dist-packages/torch/__init__.py`),
      )
      expect((await train({FOREVER: '1'})).trained.status).toBe('stopped')
    },
  )
})
