import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {afterAll, beforeAll, expect, test} from 'vitest'
import {makeContext, StopRequest, type Context} from '../../src/lib/base/index.ts'
import {DataStore} from '../../src/lib/data/index.ts'
import {startHead, stopHead} from '../../src/lib/head/index.ts'
import {loadManifest, type Manifest} from '../../src/lib/manifest/index.ts'
import type {Trial} from '../../src/lib/protocol/index.ts'
import type {Rack} from '../../src/lib/rack/index.ts'
import {openFleet, type Fleet} from '../../src/lib/ssh/index.ts'
import {findSweep, planSweep, runSweep, type Sweep, type SweepChoice, type Swept} from '../../src/lib/sweep/index.ts'
import {sharedEnvironments} from '../support/environments.ts'
import {startSlurm, type TestSlurm} from '../support/slurm.ts'
import {throughJson} from '../support/through-json.ts'
import {startSshd, type TestSshd} from '../support/sshd.ts'
import {ENDLESS_SCRIPT, SWEEP_SCRIPT, writeSweep} from '../support/sweep-script.ts'
import {startTcpRelay} from '../support/tcp-relay.ts'

let slurm: TestSlurm
let sshd: TestSshd
let folder = ''
let rack: Rack
let fleet: Fleet
let context: Context

beforeAll(async () => {
  slurm = await startSlurm(2)
  sshd = await startSshd({env: slurm.env})
  folder = await mkdtemp(join(tmpdir(), 'flexrack-sweep-slurm-'))
  const login = {
    ...sshd.target('login'),
    root: `${sshd.home}/.flexrack`,
    environments: await sharedEnvironments(),
    labels: {},
  }
  rack = {
    name: 'cluster',
    path: join(folder, 'cluster.yaml'),
    nodes: [login],
    head: {node: 'login', bind: '127.0.0.1'},
    slurm: {login: 'login', extra: []},
  }
  context = makeContext({env: {...process.env, FLEXRACK_HOME: join(folder, 'home')}})
  fleet = openFleet(rack.nodes, context)
  await startHead(rack, fleet, context)
}, 900_000)
afterAll(async () => {
  if (fleet) await stopHead(rack, fleet, context).catch(() => {})
  await fleet?.close()
  await slurm?.stop()
  await sshd?.stop()
  if (folder !== '') await rm(folder, {recursive: true, force: true})
})

interface Project {
  manifest: Manifest
  /** Lets the trials of `--hold` go on. */
  go(): Promise<void>
  /** Runs a sweep; `onTrial` may end it by the signals. */
  sweep(parts?: {
    choice?: Partial<SweepChoice>
    onTrial?: (event: string, trial: Trial) => void
    context?: Context
    over?: {rack: Rack; fleet: Fleet}
  }): Promise<Swept>
  shown(): Promise<Sweep>
  /** Trials that were started, in order; one that was started twice is there twice. */
  starts(): Promise<number[]>
}

async function project(
  name: string,
  sweep: string,
  parts: {script?: string; args?: string; train?: string} = {},
): Promise<Project> {
  const home = join(folder, name)
  await mkdir(home)
  const files = await writeSweep(home, name, sweep, parts)
  const manifest = await loadManifest(join(home, 'flexrack.yaml'))
  return {
    manifest,
    go: files.go,
    async sweep(parts = {}) {
      const choice = {preflight: {skip: [], force: false}, args: [], ...parts.choice}
      const own = parts.context ?? context
      const place = {manifest, ...(parts.over ?? {rack, fleet})}
      const plan = await planSweep(place, choice, own)
      return runSweep(
        {...plan, plan: throughJson(plan.plan)},
        place,
        choice,
        {onTrial: (event, trial) => parts.onTrial?.(event, trial)},
        own,
      )
    },
    shown: () => findSweep({rack, fleet, project: name}, undefined, context),
    starts: async () => (await files.starts()).map((line) => Number(line.split(' ')[0])).toSorted((a, b) => a - b),
  }
}

/** Names and states of what is in the queue. */
async function queue(): Promise<string[]> {
  return (await slurm.slurm('squeue', '--noheader', '-r', '--format=%j %T'))
    .trim()
    .split('\n')
    .filter((line) => line !== '')
}

/** Pids of ranks whose run's id begins so, and of what they started, from /proc alone. */
async function alive(runs: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    const environment = /^\d+$/.test(name) ? await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '') : ''
    if (environment.split('\0').some((entry) => entry.startsWith(`FLEXRACK_TAG=${runs}`))) found.push(Number(name))
  }
  return found
}

test(
  'every trial is a job, as many in the queue as are asked for, and the best one is known',
  {timeout: 300_000},
  async () => {
    const {sweep, starts, manifest} = await project(
      'jobs',
      'sampler: tpe, seed: 1, trials: 6, parallel: 3, parameters: {x: {min: -4, max: 4}}',
    )
    let most = 0
    let asking: Promise<unknown> = Promise.resolve()
    const swept = await sweep({
      onTrial: (event) => {
        if (event === 'started')
          asking = asking.then(async () => {
            most = Math.max(most, (await queue()).length)
          })
      },
    })
    await asking
    expect(swept).toMatchObject({status: 'finished', limit: 6})
    expect(swept.trials.map((one) => [one.state, one.value])).toEqual(
      swept.trials.map((one) => ['complete', (Number(one.params.x) - 1) ** 2 + 1 / 3]),
    )
    expect(swept.best?.value).toBe(Math.min(...swept.trials.map((one) => one.value as number)))
    expect(await starts()).toEqual([0, 1, 2, 3, 4, 5])
    expect([most > 1, most <= 3]).toEqual([true, true])
    expect(manifest.name).toBe('jobs')
  },
)

test('ASHA ends jobs that do worse, and their processes with them', {timeout: 300_000}, async () => {
  const {sweep} = await project(
    'asha',
    'sampler: random, trials: 3, pruner: {name: asha, reduction: 2}, parameters: {x: {min: 0, max: 1}}',
    {script: ENDLESS_SCRIPT},
  )
  const swept = await sweep()
  expect(swept.trials.map((one) => one.state)).toEqual(['complete', 'pruned', 'pruned'])
  expect(await alive(swept.sweep)).toEqual([])
  expect(await slurm.until(async () => (await queue()).length === 0)).toBe(true)
})

test(
  'a sweep whose terminal has gone leaves its jobs; --resume finds them, in the queue and ended, and starts none twice',
  {timeout: 300_000},
  async () => {
    const {sweep, starts, shown, go} = await project(
      'left',
      'sampler: grid, pruner: {name: median, startup: 100}, parallel: 3, parameters: {x: [0, 1, 2, 3, 4]}',
      {args: '--hold 0,1,2,3,4', train: 'nodes: 2, slurm: {exclusive: true}'},
    )
    const gone = new AbortController()
    let started = 0
    const leaving = sweep({
      context: {...context, signal: gone.signal},
      onTrial: (event) => {
        if (event === 'started' && ++started === 3) gone.abort(new StopRequest('terminal'))
      },
    })
    await expect(leaving).rejects.toMatchObject({code: 'INTERRUPTED'})
    const before = await shown()
    expect(before).toMatchObject({status: 'interrupted', driver: null})
    await slurm.until(async () => (await queue()).filter((line) => line.endsWith(' RUNNING')).length === 1)
    const lines = await queue()
    expect(lines.map((line) => line.split(' ')[1]).toSorted()).toEqual(['PENDING', 'PENDING', 'RUNNING'])
    const found: number[] = []
    const swept = await sweep({
      choice: {resume: before.sweep},
      onTrial: (event, {number}) => {
        if (event === 'resumed' && found.push(number) === 3) void go()
      },
    })
    expect(found.toSorted()).toEqual([0, 1, 2])
    expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual(Array.from({length: 5}, () => ['complete', 1]))
    expect(await starts()).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]) // a rank on each of two nodes
  },
)

test(
  'Ctrl-C takes running and waiting trials out of Slurm; --resume starts these again, and the grid is whole',
  {timeout: 300_000},
  async () => {
    const {sweep, shown, go} = await project(
      'stopped',
      'sampler: grid, pruner: {name: median, startup: 100}, parallel: 2, parameters: {x: [0, 1, 2]}',
      {args: '--hold 0,1,2', train: 'slurm: {exclusive: true, extra: [--nodelist=c1]}'},
    )
    const stop = new AbortController()
    let started = 0
    await expect(
      sweep({
        context: {...context, signal: stop.signal},
        onTrial: (event) => {
          if (event === 'started' && ++started === 2) stop.abort()
        },
      }),
    ).rejects.toMatchObject({code: 'INTERRUPTED'})
    const before = await shown()
    expect(before.trials.map((one) => one.state)).toEqual(['running', 'running'])
    expect(await queue()).toEqual([])
    expect(await alive(before.sweep)).toEqual([])
    await go()
    const swept = await sweep({choice: {resume: 'latest'}})
    expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual([
      ['complete', 2],
      ['complete', 2],
      ['complete', 1],
    ])
  },
)

test('what Slurm cannot do for a sweep is refused before anything is done', {timeout: 600_000}, async () => {
  const {sweep} = await project('refused', 'sampler: grid, parameters: {x: [0]}', {train: 'slurm: {partition: mian}'})
  await expect(sweep()).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'Slurm has no partition mian; did you mean main?',
  })
  await expect(sweep({choice: {on: 'login'}})).rejects.toMatchObject({
    code: 'USAGE',
    message: 'rack cluster has Slurm, which chooses the nodes; --on cannot',
  })
})

/** Slurm's own view of every task: its name, array number and state. */
async function tasks(): Promise<string[]> {
  return (await slurm.slurm('squeue', '--noheader', '-r', '--format=%j %K %T'))
    .trim()
    .split('\n')
    .filter((line) => line !== '')
}

test(
  'a grid is one job with a task for each point, of which Slurm runs as many at a time as are asked for; a command that is gone is not needed for it',
  {timeout: 300_000},
  async () => {
    const {manifest, sweep, starts, shown, go} = await project(
      'array',
      'sampler: grid, parallel: 2, parameters: {x: [0, 1, 2, 3, 4, 5]}',
      {args: '--hold 0,1'},
    )
    await mkdir(join(folder, 'points'))
    await writeFile(join(folder, 'points/x'), 'seven')
    await new DataStore(context).add(join(folder, 'points'), 'points')
    manifest.data = ['points']
    const gone = new AbortController()
    await expect(
      sweep({
        context: {...context, signal: gone.signal},
        onTrial: (event) => {
          if (event === 'started' && !gone.signal.aborted) gone.abort(new StopRequest('terminal'))
        },
      }),
    ).rejects.toMatchObject({code: 'INTERRUPTED'})
    const before = await shown()
    await slurm.until(async () => (await tasks()).filter((line) => line.endsWith(' RUNNING')).length === 2)
    expect(await readFile(join(sshd.home, '.flexrack/runs', `${before.sweep}-1`, 'data/points/x'), 'utf8')).toBe(
      'seven',
    )
    const all = await tasks()
    expect(all.map((line) => line.split(' ')[0])).toEqual(Array(6).fill(before.sweep))
    expect(all.map((line) => Number(line.split(' ')[1])).toSorted()).toEqual([0, 1, 2, 3, 4, 5])
    expect(new Set((await slurm.slurm('squeue', '--noheader', '-r', '--format=%F')).trim().split('\n')).size).toBe(1)
    await go()
    await slurm.until(async () => (await tasks()).length === 0)
    expect(await starts()).toEqual([0, 1, 2, 3, 4, 5])
    const swept = await sweep({choice: {resume: before.sweep}})
    expect(swept.trials.map((one) => [one.state, one.attempt, one.value])).toEqual(
      swept.trials.map((one) => ['complete', 1, (Number(one.params.x) - 1) ** 2 + 1 / 3]),
    )
    expect([swept.trials.length, swept.best?.params.x]).toEqual([6, 1])
    expect(await starts()).toEqual([0, 1, 2, 3, 4, 5])
  },
)

test(
  'Ctrl-C takes the whole array out of Slurm, also what nobody has looked at yet; --resume makes the grid whole',
  {timeout: 300_000},
  async () => {
    const {sweep, shown, go} = await project(
      'arraystop',
      'sampler: grid, parallel: 2, parameters: {x: [0, 1, 2, 3, 4]}',
      {args: '--hold 0,1,2,3,4'},
    )
    const stop = new AbortController()
    await expect(
      sweep({
        context: {...context, signal: stop.signal},
        onTrial: (event, {number}) => {
          if (event === 'started' && number === 1)
            void slurm
              .until(async () => (await tasks()).filter((line) => line.endsWith(' RUNNING')).length === 2)
              .then(() => stop.abort())
        },
      }),
    ).rejects.toMatchObject({code: 'INTERRUPTED'})
    const before = await shown()
    expect(await slurm.until(async () => (await tasks()).length === 0)).toBe(true)
    expect(await alive(before.sweep)).toEqual([])
    expect(before.trials.map((one) => one.state)).toEqual(Array(5).fill('running'))
    await go()
    const swept = await sweep({choice: {resume: 'latest'}})
    expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual(Array(5).fill(['complete', 2]))
  },
)

test(
  'a task that fails is that trial alone, and Slurm, its runs and the sweep tell the same of it',
  {timeout: 300_000},
  async () => {
    const {sweep} = await project('arrayfail', 'sampler: grid, parallel: 4, parameters: {x: [0, 1, 2]}', {
      script: SWEEP_SCRIPT.replace('for step in', 'if options.x == 0: raise SystemExit("no such x")\nfor step in'),
    })
    const swept = await sweep()
    expect(swept.trials.map((one) => [one.params.x, one.state]).toSorted()).toEqual([
      [0, 'failed'],
      [1, 'complete'],
      [2, 'complete'],
    ])
    expect(swept.trials.find((one) => one.state === 'failed')?.why).toMatch(
      /rank 0 on c[12] ended with exit code 1: no such x/,
    )
  },
)

for (const how of ['cut', 'freeze'] as const) {
  test(
    `a connection that is lost (${how}) ends the command with the way on; its trials go on, and --resume finds them: every trial once`,
    {timeout: 300_000},
    async () => {
      const {sweep, starts, shown, go} = await project(
        `lost${how}`,
        'sampler: tpe, seed: 1, trials: 4, parallel: 2, parameters: {x: [0, 1]}',
        {args: '--hold 0,1'},
      )
      const relay = await startTcpRelay(sshd.port)
      const knownHosts = join(folder, `known-hosts-${how}`)
      await writeFile(
        knownHosts,
        (await readFile(sshd.knownHosts, 'utf8')).replaceAll(`:${sshd.port} `, `:${relay.port} `),
      )
      const far = {...rack, nodes: rack.nodes.map((node) => ({...node, port: relay.port, knownHosts}))}
      const farFleet = openFleet(far.nodes, context, {keepaliveInterval: 500})
      let started = 0
      try {
        const lost: unknown = await sweep({
          over: {rack: far, fleet: farFleet},
          onTrial: (event) => {
            if (event === 'started' && ++started === 2) relay[how]()
          },
        }).catch((error: unknown) => error)
        const {sweep: id} = await shown()
        expect(lost).toMatchObject({
          code: 'NODE_UNREACHABLE',
          hint: expect.stringContaining(`flexrack sweep --resume ${id}`),
        })
      } finally {
        await farFleet.close()
        await relay.stop()
      }
      // The engine there ends with its connection, and the lock with it.
      const before = await slurm.until(async () => {
        const one = await shown()
        return one.driver === null && one
      })
      expect([before.status, before.trials.map((one) => one.state)]).toEqual(['interrupted', ['running', 'running']])
      await go()
      const swept = await sweep({choice: {resume: before.sweep}})
      expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual(Array(4).fill(['complete', 1]))
      expect(await starts()).toEqual([0, 1, 2, 3])
    },
  )
}

test(
  'a sweep that nobody attends goes on by itself after a lost connection: trials that depend on each other, and an array, each once',
  {timeout: 300_000},
  async () => {
    for (const [name, kind] of [
      ['alone', 'sampler: tpe, seed: 1, trials: 4'],
      ['alone-array', 'sampler: grid'],
    ] as const) {
      const {sweep, starts, go} = await project(name, `${kind}, parallel: 2, parameters: {x: [0, 1, 2, 3]}`, {
        args: '--hold 0,1,2,3',
      })
      const relay = await startTcpRelay(sshd.port)
      const knownHosts = join(folder, `known-hosts-${name}`)
      await writeFile(
        knownHosts,
        (await readFile(sshd.knownHosts, 'utf8')).replaceAll(`:${sshd.port} `, `:${relay.port} `),
      )
      const far = {...rack, nodes: rack.nodes.map((node) => ({...node, port: relay.port, knownHosts}))}
      const farFleet = openFleet(far.nodes, context)
      const events: string[] = []
      try {
        const swept = await sweep({
          choice: {unattended: true},
          over: {rack: far, fleet: farFleet},
          onTrial: (event) => {
            events.push(event)
            if (event === 'started' && events.length === 2) relay.cut()
            if (event === 'resumed') void go()
          },
        })
        expect([swept.status, swept.trials.map((one) => [one.state, one.attempt])]).toEqual([
          'finished',
          Array(4).fill(['complete', 1]),
        ])
        expect(events.filter((one) => one === 'resumed').length).toBeGreaterThanOrEqual(2)
        expect(await starts()).toEqual([0, 1, 2, 3])
      } finally {
        await farFleet.close()
        await relay.stop()
      }
    }
  },
)

test(
  'a trial whose node fails is not a failed one: it is started again, as a job of its own',
  {timeout: 300_000},
  async () => {
    const {sweep, go} = await project('nodefail', 'sampler: grid, parameters: {x: [0, 1]}', {
      args: '--hold 0,1',
      train: 'slurm: {extra: [--nodelist=c2]}',
    })
    let failing: Promise<unknown> | undefined
    const fail = async (): Promise<void> => {
      await slurm.until(async () => (await tasks()).some((line) => line.endsWith(' RUNNING')))
      // it comes back by itself (ReturnToService=2)
      await slurm.slurm('scontrol', 'update', 'NodeName=c2', 'State=DOWN', 'Reason=test')
      await go()
    }
    const swept = await sweep({
      onTrial: (event, {number, attempt}) => {
        if (event === 'started' && number === 0 && attempt === 1) failing = fail()
      },
    })
    await failing
    expect(swept.trials.map((one) => [one.state, one.attempt])).toEqual([
      ['complete', 2],
      ['complete', 1],
    ])
  },
)
