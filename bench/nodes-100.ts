// 100 nodes on one machine: probe, sync, preflight, launch and stop cost a node among many what they cost one among
// few; dead and slow nodes cost seconds.
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import {saveRack, type Rack, type RackNode} from '../src/lib/rack/index.ts'
import {startTrainRack} from '../test/support/train.ts'
import {drawLines} from '../src/lib/chart/index.ts'
import {keepChart, median, report, root, watchProgram, type Row, type Used} from './measure.ts'

const SIZES = (process.env.BENCH_SIZES ?? '10,25,50,100').split(',').map(Number)
const MOST = Math.max(...SIZES)
/**
 * A node among many may cost this much more than among few: what is shared (the command, the leader) must not grow with
 * the square.
 */
const FLAT = 1.5
/** Of the rack for the test with dead and slow nodes: how many the run takes, and where those nodes are. */
const TAKEN = Math.round(MOST * 0.9)
const [REFUSING, STALLED, SLOW] = [4, 16, 28].map((index) => Math.min(index, MOST - 3)) as [number, number, number]
const DELAY_MS = 200
/** Seconds that two dead nodes and a slow one may add to a run: a silent one is given up after 15. */
const DEAD_BAR = 30
/** Of the command, at most: open files and sockets (a connection a node, and what Node itself has), and memory. */
const FILES_BAR = MOST + 60
const MEMORY_BAR = 512
const rounds = Number(process.env.BENCH_ROUNDS ?? 1)
const SCRIPT = 'import time\nprint("up", flush=True)\ntime.sleep(3600)\n'
const STEPS = [
  'probe',
  'sync of one changed file',
  'preflight',
  'launch, until every rank is up',
  'stop, until nothing is left',
] as const
type StepName = (typeof STEPS)[number]

const setup = await startTrainRack(MOST)
const folder = mkdtempSync(join(tmpdir(), 'flexrack-bench-'))
const servers: Server[] = []
const sockets = new Set<Socket>()
try {
  writeFileSync(join(folder, 'train.py'), SCRIPT)
  writeFileSync(
    join(folder, 'flexrack.yaml'),
    'name: bench\ntrain: {command: train.py, launcher: plain, nodes: 1, grace: 1s}\n',
  )
  let turn = 0
  /**
   * On a machine that others use, too, 100 starts of Python may take longer than the preflight waits: it is told, and
   * the launch goes on.
   */
  let unmeasured = 0
  let most: Used = {milliseconds: 0, memory: 0, files: 0, status: 0, output: ''}
  /** The built command in the project's folder; `exits`: statuses that are right. */
  const flexrack = async (words: string[], exits: number[] = [0]): Promise<Used> => {
    const used = await watchProgram([process.execPath, join(root, 'bin/run.js'), ...words], {
      env: setup.rack.env,
      cwd: folder,
    })
    if (!exits.includes(used.status ?? -1))
      throw new Error(`flexrack ${words.join(' ')} ended with ${used.status}:\n${used.output.slice(-3000)}`)
    most = {...used, memory: Math.max(most.memory, used.memory), files: Math.max(most.files, used.files)}
    return used
  }
  const rackOf = async (name: string, nodes: RackNode[]): Promise<string> => {
    const rack: Rack = {...setup.rack.rack, name, path: join(folder, `${name}.yaml`), nodes}
    await saveRack(rack)
    return rack.path
  }
  /** Milliseconds from the command to the last rank's first line, and to stop it all. */
  const launch = async (rack: string, size: number): Promise<{launched: number; stopped: number}> => {
    const started = performance.now()
    const {output} = await flexrack([
      'train',
      '--rack',
      rack,
      '--nodes',
      String(size),
      '--no-tracking',
      '--detach',
      '--force',
    ])
    unmeasured = Math.max(
      unmeasured,
      Number(
        /(\d+) nodes?[^\n]*could not be measured/.exec(output)?.[1] ??
          (output.includes('could not be measured') ? 1 : 0),
      ),
    )
    const run = /bench-[0-9a-z]{5}/.exec(output)?.[0] as string
    while (upRanks(run) < size) await pause(20)
    const launched = performance.now() - started
    const {milliseconds} = await flexrack(['runs', 'stop', '--rack', rack, run])
    if ((await setup.alive(run)).length > 0) throw new Error(`processes of ${run} are left`)
    return {launched, stopped: milliseconds}
  }
  const upRanks = (run: string): number =>
    setup.rack.rack.nodes.filter(({name}) => {
      const logs = join(setup.rack.home, 'state/local/nodes', name, 'home/.flexrack/runs', run, 'attempts/1')
      return (
        existsSync(logs) &&
        readdirSync(logs).some(
          (file) =>
            file.endsWith('.log') && file.startsWith('rank') && readFileSync(join(logs, file), 'utf8').startsWith('up'),
        )
      )
    }).length

  const all = setup.rack.rack.nodes
  const racks = new Map<number, string>()
  for (const size of SIZES) racks.set(size, await rackOf(`first-${size}`, all.slice(0, size)))
  // the node program and the environment are there from now on
  await flexrack(['workspace', 'up', '--on', 'all', '--rack', racks.get(MOST) as string])
  const taken: Record<StepName, Record<number, number[]>> = {
    [STEPS[0]]: {},
    [STEPS[1]]: {},
    [STEPS[2]]: {},
    [STEPS[3]]: {},
    [STEPS[4]]: {},
  } as never
  const note = (step: StepName, size: number, milliseconds: number): unknown =>
    (taken[step][size] ??= []).push(milliseconds)
  const floors: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const size of SIZES) {
      const rack = racks.get(size) as string
      note('probe', size, (await flexrack(['rack', 'probe', '--rack', rack])).milliseconds)
      writeFileSync(join(folder, 'changed.py'), `value = ${++turn}\n`)
      note(
        'sync of one changed file',
        size,
        (await flexrack(['workspace', 'sync', '--on', 'all', '--rack', rack])).milliseconds,
      )
      const checked = await flexrack(['check', '--preflight', '--skip', 'disk', '--rack', rack, '--json'], [0, 3])
      note('preflight', size, preflightTime(checked.output))
      const {launched, stopped} = await launch(rack, size)
      note('launch, until every rank is up', size, launched)
      note('stop, until nothing is left', size, stopped)
      floors.push(await bareStarts(100))
      console.error(
        `${size} nodes: ${STEPS.map((step) => `${step} ${Math.round(taken[step][size]?.at(-1) ?? 0)} ms`).join(', ')}`,
      )
    }
  }

  const healthy = await launch(racks.get(MOST) as string, TAKEN)
  const sick = await rackOf('sick', await sicken(all))
  const probed = await flexrack(['rack', 'probe', '--rack', sick], [8])
  for (const index of [REFUSING, STALLED])
    if (!probed.output.includes(all[index]?.name as string))
      throw new Error(`the probe does not name ${all[index]?.name}`)
  const ill = await launch(sick, TAKEN)

  const perNode = (step: StepName, size: number): number => median(taken[step][size] as number[]) / size
  const few = SIZES[1] ?? (SIZES[0] as number)
  const seconds = (value: number): number => value / 1000
  const floor = median(floors) / 100
  report(
    'nodes-100',
    [
      {
        what: 'a bare start of Python, 100 at once: what this machine takes for each by itself',
        value: floor,
        unit: 'ms a node',
      },
      ...STEPS.flatMap((step): Row[] =>
        SIZES.map((size) => ({
          what: `${step}: ${size} nodes`,
          value: perNode(step, size),
          unit: 'ms a node',
          ...(size > few && {bar: FLAT * perNode(step, few), better: 'lower' as const}),
        })),
      ),
      {what: `a launch on ${TAKEN} of ${MOST} nodes, all well`, value: seconds(healthy.launched), unit: 's'},
      {
        what: 'the same with one node that refuses, one whose sshd says nothing and one that answers 200 ms late each way',
        value: seconds(ill.launched),
        unit: 's',
        bar: seconds(healthy.launched) + DEAD_BAR,
        better: 'lower',
      },
      {
        what: `a probe of ${MOST} nodes with these three among them`,
        value: seconds(probed.milliseconds),
        unit: 's',
        bar: seconds(perNode('probe', MOST) * MOST) + DEAD_BAR,
        better: 'lower',
      },
      {what: 'open files of the command, at most', value: most.files, unit: 'files', bar: FILES_BAR, better: 'lower'},
      {what: 'memory of the command, at most', value: most.memory, unit: 'MiB', bar: MEMORY_BAR, better: 'lower'},
    ],
    [
      `Bar of a step: at most ${FLAT} times what a node costs among ${few}. Every time is of the whole command, its own start included. All nodes share this one machine, so the time of all grows with their number.`,
      ...(unmeasured > 0
        ? [
            'The machine was so loaded that the preflight of a launch could not measure every node in its time; the launch went on (--force).',
          ]
        : []),
      'The preflight connects every node to every other, so its work a node grows with their number; bandwidth is not measured between nodes on one machine.',
    ],
  )
  const lines = (of: (step: StepName, size: number) => number) =>
    STEPS.map((step) => ({name: step, values: SIZES.map((size) => of(step, size))}))
  keepChart(
    'nodes-100',
    drawLines(
      [
        {
          title: 'All nodes',
          x: 'nodes',
          y: 'seconds',
          at: SIZES,
          lines: lines((step, size) => seconds(perNode(step, size) * size)),
        },
        {title: 'A node among them', x: 'nodes', y: 'milliseconds a node', at: SIZES, lines: lines(perNode)},
      ],
      `Simulated nodes that share one machine; a bare start of Python takes it ${Math.round(floor)} ms. Numbers: nodes-100.json`,
    ),
  )
} finally {
  for (const socket of sockets) socket.destroy()
  for (const server of servers) server.close()
  await setup.stop()
  rmSync(folder, {recursive: true, force: true})
}

/** The same nodes with two dead ones and a slow one among the first. */
async function sicken(nodes: RackNode[]): Promise<RackNode[]> {
  const stalled = await listen(() => {})
  const slow = await listen((near) => {
    const far = connect(nodes[SLOW]?.port as number, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), DELAY_MS))
      from.on('close', () => setTimeout(() => to.destroy(), DELAY_MS))
      keep(from)
    }
  })
  const [known] = nodes.map((node) => node.knownHosts)
  const lines = readFileSync(known as string, 'utf8')
  const moved = join(folder, 'known_hosts')
  writeFileSync(moved, lines.replace(`[127.0.0.1]:${nodes[SLOW]?.port} `, `[127.0.0.1]:${slow} `))
  return nodes.map((node, index) =>
    index === REFUSING
      ? {...node, port: 1}
      : index === STALLED
        ? {...node, port: stalled}
        : index === SLOW
          ? {...node, port: slow, knownHosts: moved}
          : node,
  )
}

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    keep(socket)
    onConnection(socket)
  }).listen(0, '127.0.0.1')
  servers.push(server)
  await new Promise((resolve) => server.once('listening', resolve))
  return (server.address() as AddressInfo).port
}

function keep(socket: Socket): void {
  sockets.add(socket)
  socket.on('error', () => {})
}

/** Milliseconds of the preflight itself in the answer of `check --preflight --json`. */
function preflightTime(output: string): number {
  const found = /"times":\s*\{[^}]*"total":\s*([\d.]+)/.exec(output)?.[1]
  if (found === undefined) throw new Error(`no preflight in ${output.slice(0, 2000)}`)
  return Number(found)
}

/** Milliseconds for so many starts of Python that do nothing, all at once. */
async function bareStarts(count: number): Promise<number> {
  return (await watchProgram(['sh', '-c', `for one in $(seq ${count}); do python3 -I -S -c 0 & done; wait`]))
    .milliseconds
}
