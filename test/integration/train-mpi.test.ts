import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {afterAll, beforeAll, describe, expect, test} from 'vitest'
import {makeContext} from '../../src/lib/base/index.ts'
import type {Manifest, TrainSpec} from '../../src/lib/manifest/index.ts'
import {openRuns, stopRun, type RankLine, type Runs} from '../../src/lib/runs/index.ts'
import {ensureEnvironment, openHost} from '../../src/lib/host/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {planTrain, runPlan, type Trained} from '../../src/lib/train/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {mayMakeNetworks, startNetRack, type TestNetRack} from '../support/net-rack.ts'
import {startSshd} from '../support/sshd.ts'
import {processesOf} from '../support/tagged.ts'

const MPI4PY = 'mpi4py==4.1.2\n'
const TORCH = fileURLToPath(new URL('../../templates/pytorch-ddp/requirements.txt', import.meta.url))

/** Every rank is in the world, then all but the one that does something stay. */
const UP = `import os, signal, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
world.Barrier()
print("up", flush=True)
`

describe.skipIf(!mayMakeNetworks())('Open MPI on nodes with networks of their own', () => {
  let net: TestNetRack
  let folder: string
  let fleet: Fleet
  let runs: Runs
  const context = makeContext({env: process.env})
  beforeAll(async () => {
    await buildEnvironments([MPI4PY, await readFile(TORCH, 'utf8')])
    net = await startNetRack(2, await sharedEnvironments())
    folder = await mkdtemp(join(tmpdir(), 'flexrack-mpi-'))
    fleet = openFleet(net.rack.nodes, context)
    runs = openRuns({rack: net.rack, fleet}, context)
  }, 900_000)
  afterAll(async () => {
    await fleet?.close()
    await net?.stop()
    await rm(folder, {recursive: true, force: true})
  })

  /** On a node that reaches PyPI, which those in networks of their own do not. */
  async function buildEnvironments(all: string[]): Promise<void> {
    const sshd = await startSshd()
    const node = {
      ...sshd.target('builder'),
      root: `${sshd.home}/.flexrack`,
      environments: await sharedEnvironments(),
      labels: {},
    }
    const builder = openFleet([node], context)
    try {
      const host = await openHost(builder, node, context)
      for (const requirements of all) await ensureEnvironment(host, {requirements}, context)
    } finally {
      await builder.close()
      await sshd.stop()
    }
  }

  interface Parts {
    requirements?: string
    /** Called once all four ranks have said "up". */
    onUp?: (run: string) => Promise<unknown>
  }

  async function train(
    script: string,
    spec: Partial<TrainSpec> = {},
    {requirements = MPI4PY, onUp}: Parts = {},
  ): Promise<{trained: Trained; lines: RankLine[]}> {
    await writeFile(join(folder, 'requirements.txt'), requirements)
    await writeFile(join(folder, 'train.py'), script)
    const manifest: Manifest = {
      path: join(folder, 'flexrack.yaml'),
      folder,
      name: requirements === MPI4PY ? 'proj' : 'torch',
      workspace: {python: 'requirements.txt', exclude: [], forward: [], env: {}},
      train: {
        command: ['train.py'],
        launcher: 'mpi',
        nodes: 2,
        processesPerNode: 2,
        restarts: 0,
        outputs: [],
        env: {},
        grace: 5,
        ...spec,
      },
      tracking: {experiment: 'proj'},
      endpoints: {},
    }
    const place = {manifest, rack: net.rack, fleet}
    const plan = await planTrain(
      place,
      {args: [], tracking: false, preflight: {skip: ['bandwidth', 'disk', 'shm'], force: false}},
      context,
    )
    expect(plan.plan.steps.at(-1)?.title).toContain('mpirun train.py')
    const lines: RankLine[] = []
    let acting: Promise<unknown> | undefined
    const trained = await runPlan(
      plan,
      place,
      {
        detach: false,
        onLines: (some) => {
          lines.push(...some)
          if (lines.filter((line) => line.text === 'up').length === 4) acting ??= onUp?.(plan.spec.run)
        },
      },
      context,
    )
    await acting
    await nothingLeft(trained)
    return {trained, lines}
  }

  /** No process, no session folder of Open MPI, no file of shared memory. */
  async function nothingLeft({run, left}: Trained): Promise<void> {
    expect(left).toEqual({'node-1': [], 'node-2': []})
    expect(await processesOf(run)).toEqual([])
    const files = [...(await readdir('/dev/shm')), ...(await readdir(tmpdir()))]
    expect(
      files.filter((name) => name.includes(run) || name.startsWith('ompi.') || name.startsWith('vader_segment')),
    ).toEqual([])
  }

  const byRank = (lines: RankLine[]): string[] =>
    lines.toSorted((a, b) => a.rank - b.rank).map(({node, text}) => `${node}: ${text}`)

  test(
    'ranks are where the plan says, reduce over the link between the nodes, and find what torchrun and Horovod would tell them',
    {timeout: 300_000},
    async () => {
      const script = `${UP.replace('print("up", flush=True)\n', '')}
total = world.allreduce(world.Get_rank() + 1)
names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "HOROVOD_RANK", "HOROVOD_LOCAL_SIZE", "HOROVOD_CROSS_RANK", "HOROVOD_CROSS_SIZE")
print(total, world.Get_rank(), world.Get_size(), *(os.environ[name] for name in names), os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"].isdigit(), os.environ.get("TMPDIR", "-"))
open(os.path.join(os.environ["FLEXRACK_OUTPUTS"], "model.txt"), "w").write("weights")
`
      const {trained, lines} = await train(script, {outputs: ['model.txt']})
      expect(trained).toMatchObject({
        status: 'finished',
        exit: 0,
        worldSize: 4,
        nodes: ['node-1', 'node-2'],
        cause: null,
        outputs: ['model.txt'],
      })
      const leader = net.addresses['node-1']
      const reported = `${leader} True ${process.env.TMPDIR ?? '-'}`
      expect(byRank(lines)).toEqual([
        `node-1: 10 0 4 0 0 4 2 0 2 0 2 ${reported}`,
        `node-1: 10 1 4 1 1 4 2 1 2 0 2 ${reported}`,
        `node-2: 10 2 4 2 0 4 2 2 2 1 2 ${reported}`,
        `node-2: 10 3 4 3 1 4 2 3 2 1 2 ${reported}`,
      ])
      expect(await runs.show(trained.run)).toMatchObject({status: 'finished', worldSize: 4})
      const log = await readFile(
        join((await runs.show(trained.run)).folders['node-1'] as string, 'attempts/1/agent.log'),
        'utf8',
      )
      expect(log.includes('--allow-run-as-root')).toBe(process.getuid?.() === 0)
    },
  )

  test('torch.distributed over gloo needs nothing else', {timeout: 900_000}, async () => {
    const script = `import os, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * (dist.get_rank() + 1)
dist.all_reduce(value)
print("sum", int(value.item()), dist.get_rank(), flush=True)
dist.destroy_process_group()
`
    const {trained, lines} = await train(script, {processesPerNode: 1}, {requirements: await readFile(TORCH, 'utf8')})
    const sums = lines.filter((line) => line.text.startsWith('sum')) // torch warns of names that it cannot resolve
    expect([trained.status, byRank(sums)]).toEqual(['finished', ['node-1: sum 3 0', 'node-2: sum 3 1']])
  })

  test('rank 3 fails: the run ends everywhere, it is the first cause, and the next attempt starts anew', async () => {
    const script = `${UP}if world.Get_rank() == 3: print("no such digit"); sys.stdout.flush(); os._exit(17)
world.recv(source=3)
`
    const {trained} = await train(script, {restarts: 1})
    expect(trained).toMatchObject({
      status: 'failed',
      attempts: 2,
      cause: {kind: 'rank', rank: 3, node: 'node-2', exit: 17, message: 'no such digit'},
    })
  })

  test('MPI_Abort names the rank that called it', async () => {
    const {trained} = await train(
      `${UP}if world.Get_rank() == 2: print("gives up", flush=True); world.Abort(5)\nworld.recv(source=2)\n`,
    )
    expect(trained).toMatchObject({status: 'failed', cause: {kind: 'rank', rank: 2, node: 'node-2', exit: 5}})
  })

  test('stop: every rank has the whole grace to save its state, also after others have ended badly', async () => {
    const script = `${UP}def save(*_):
    if world.Get_rank() == 0: os._exit(3)
    time.sleep(2.5)
    print("saved", flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, save)
while True: time.sleep(0.05)
`
    const {trained, lines} = await train(
      script,
      {grace: 20},
      {onUp: async (run) => stopRun(runs.place, await runs.find(run), {}, context)},
    )
    expect([trained.status, trained.cause]).toEqual(['stopped', null])
    expect(
      lines
        .filter((line) => line.text === 'saved')
        .map((line) => line.rank)
        .toSorted(),
    ).toEqual([1, 2, 3])
  })

  test.each([
    ['mpirun', 'node-1', 'mpirun was killed by SIGKILL'],
    ['orted', 'node-2', 'orted on node-2 was killed by SIGKILL'],
  ])('%s is killed: it is told, and nothing is left', async (program, node, message) => {
    const kill = async (run: string): Promise<void> => {
      const found = (await processesOf(run)).filter((one) => one.name === program)
      expect(found.length).toBe(1)
      for (const {pid} of found) process.kill(pid, 'SIGKILL')
    }
    const {trained} = await train(`${UP}while True: time.sleep(0.05)\n`, {}, {onUp: kill})
    expect(trained).toMatchObject({status: 'failed', cause: {kind: 'launcher', node}})
    expect(trained.cause?.message).toBe(`mpi: ${message}`)
  })
})
