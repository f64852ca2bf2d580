import {spawn, type ChildProcess} from 'node:child_process'
import {existsSync, readdirSync, readFileSync} from 'node:fs'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as pause} from 'node:timers/promises'
import type {Context} from '../../../src/lib/base/index.ts'
import type {Rack} from '../../../src/lib/rack/index.ts'
import {openRuns, type ShownRun} from '../../../src/lib/runs/index.ts'
import {openFleet} from '../../../src/lib/ssh/index.ts'
import {recorded} from '../recording.ts'
import {childrenOf, isLive, send, taggedPids, type Machines} from './machines.ts'
import type {Blow, Scenario, Victim} from './scenario.ts'

/** Where rounds are played: some nodes of a net rack that are this group's alone, in a rack file of its own. */
export interface Group {
  machines: Machines
  rack: Rack
  /** Names of the nodes that are trained on; the first leads. */
  nodes: string[]
  /** The project's folder. */
  folder: string
  env: NodeJS.ProcessEnv
  context: Context
  /** Lines of requirements.txt where torchrun is used. */
  requirements: string
}

/** What happened in a round, before anybody judges it. */
export interface Played {
  run: string | undefined
  /** Which blows found something to kill. */
  hit: boolean[]
  /** Any rank had done its work when the last SIGKILL came: where something stood still before, the others went on. */
  late: boolean
  command: {status: number | null; signal: NodeJS.Signals | null; output: string; hasEnded: boolean}
  /** Of `runs show`; undefined: no node has the run. */
  shown: ShownRun | undefined
  /** What should not be there any more, in words; empty once all is gone. */
  left: string[]
  /** Milliseconds from the blow, or from when the machines were back, until the run was over and all of it gone. */
  settledAfter: number
  /** Lease files that are still there, all expired: the command was killed before a supervisor had them. */
  expired: number
}

/**
 * A rank with a worker, as a data loader has: where that dies, the rank fails. Words: steps, milliseconds a step,
 * deaf|polite.
 */
const SCRIPT = `import os, signal, subprocess, sys, time
steps, pace, deaf = int(sys.argv[1]), int(sys.argv[2]) / 1000, sys.argv[3] == "deaf"
rank, attempt, outputs = os.environ["RANK"], os.environ["FLEXRACK_ATTEMPT"], os.environ["FLEXRACK_OUTPUTS"]
ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.setsid();" if deaf else ""
worker = subprocess.Popen([sys.executable, "-S", "-c", "import os, signal, time;" + ignore + "time.sleep(3600)"])
def save(*_):
    time.sleep(0.3)
    worker.kill()
    sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN if deaf else save)
print("up", flush=True)
for step in range(steps):
    time.sleep(pace)
    if worker.poll() is not None:
        raise RuntimeError(f"the loader's worker {worker.pid} ended with {worker.returncode}")
open(os.path.join(outputs, f"done-{attempt}-{rank}"), "w").write("done")
worker.kill()
worker.wait()
`
const FLEXRACK = join(import.meta.dirname, '../../../bin/run.js')
const STEP_MS = 50
/** Long enough for every moment of the phase; the run ends by itself soon after. */
const STEPS = {before: 30, start: 40, running: 80, stopping: 300, recording: 12}
/** Milliseconds in which the processes of a run that is started must come, to be hit. */
const START_MS = 10_000
const OF_RUN: readonly Victim[] = ['supervisor', 'reaper', 'launcher', 'wrapper', 'rank', 'worker']
/** Milliseconds a phase may take to come on a loaded machine. */
const PHASE_PATIENCE = 120_000
/**
 * On top of what is promised, for a loaded machine: no time that passes here decides how a round is judged, only that
 * it ends.
 */
const SLACK_MS = 60_000

/** One run, its blows, and how everything is afterwards. Throws only where the round itself could not be played. */
export async function playRound(
  scenario: Scenario,
  group: Group,
  promisedSeconds: (hit: boolean[]) => number,
): Promise<Played> {
  const {machines} = group
  const name = `c${scenario.seed}`
  await writeProject(scenario, group, name)
  const command = startCommand(group, name, scenario.tracked)
  const find = (): string | undefined =>
    group.nodes.map((node) => runsOn(group, node).find((one) => one.startsWith(`${name}-`))).find(Boolean)
  await phaseCame(scenario, group, find, command)
  await pause(scenario.delay)
  const {hit, late, machinesDown} = await strike(scenario, group, find(), command.child)
  const back = Promise.all(
    machinesDown.map(async (node) => {
      if (scenario.back === null) await Promise.race([command.ended, pause(promisedSeconds(hit) * 1000 + SLACK_MS)])
      else await pause(scenario.back)
      await machines.powerOn(node)
    }),
  )
  const struck = Date.now()
  await back
  const limit = Math.max(struck, Date.now()) + promisedSeconds(hit) * 1000 + SLACK_MS
  const hasEnded = await Promise.race([command.ended.then(() => true), pause(limit - Date.now()).then(() => false)])
  const status = {status: command.child.exitCode, signal: command.child.signalCode, output: command.output(), hasEnded}
  if (!hasEnded) command.child.kill('SIGKILL')
  const calm = Date.now()
  const settled = await settle(group, name, find, limit)
  return {run: find(), hit, late, command: status, ...settled, settledAfter: Date.now() - calm}
}

async function writeProject(
  {launcher, phase, deaf, restarts, spares}: Scenario,
  {folder, nodes, requirements}: Group,
  name: string,
): Promise<void> {
  const processes = launcher === 'torchrun' ? 2 : 1
  const command = `train.py ${STEPS[phase]} ${STEP_MS} ${deaf ? 'deaf' : 'polite'}`
  await writeFile(join(folder, 'requirements.txt'), requirements)
  await writeFile(join(folder, 'train.py'), SCRIPT)
  await writeFile(
    join(folder, 'flexrack.yaml'),
    [
      `name: ${name}`,
      ...(launcher === 'torchrun' ? ['workspace: {python: requirements.txt}'] : []),
      `train: {command: ${command}, launcher: ${launcher}, nodes: ${nodes.length - spares}, spares: ${spares}, processes_per_node: ${processes}, restarts: ${restarts}, grace: 2s}`,
      'tracking: {experiment: chaos}',
      '',
    ].join('\n'),
  )
}

interface Command {
  child: ChildProcess
  output: () => string
  ended: Promise<void>
}

function startCommand({folder, env, rack, nodes}: Group, name: string, tracked: boolean): Command {
  const child = spawn(
    process.execPath,
    [
      FLEXRACK,
      'train',
      '--rack',
      rack.path,
      '--on',
      nodes.join(),
      '--name',
      name,
      '--skip',
      'bandwidth',
      ...(tracked ? [] : ['--no-tracking']),
    ],
    {cwd: folder, env: {...env, ...recorded()}, stdio: ['ignore', 'pipe', 'pipe']},
  )
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)))
  return {child, output: () => text, ended: new Promise((resolve) => child.once('close', () => resolve()))}
}

/** Until the moment from which the blow's delay counts. */
async function phaseCame(
  {phase, nodes, spares, launcher}: Scenario,
  group: Group,
  find: () => string | undefined,
  command: Command,
): Promise<void> {
  if (phase === 'before') return
  const ranks = (nodes - spares) * (launcher === 'torchrun' ? 2 : 1)
  const came = (): boolean => {
    const run = find()
    if (!run) return false
    if (phase === 'start') return true
    if (phase === 'recording') return doneRanks(group, run).length === ranks
    return upRanks(group, run).length === ranks
  }
  for (const end = Date.now() + PHASE_PATIENCE; !came(); await pause(5)) {
    if (Date.now() > end || command.child.exitCode !== null)
      throw new Error(`the phase ${phase} did not come; the command's output:\n${command.output()}`)
  }
  if (phase === 'stopping') command.child.kill('SIGINT')
}

/** Everything that is hit is looked up first, so that two blows fall at the same moment. */
async function strike(
  {blows, phase}: Scenario,
  group: Group,
  run: string | undefined,
  command: ChildProcess,
): Promise<{hit: boolean[]; late: boolean; machinesDown: string[]}> {
  const {machines} = group
  const nodeOf = (blow: Blow): string => group.nodes[blow.node] as string
  const look = (): number[][] => blows.map((blow) => pidsOf(blow, group, run, command.pid as number).filter(isLive))
  let targets = look()
  // While it starts, what is to be hit may still have to come; it is hit in its first moment then.
  for (
    const end = Date.now() + START_MS;
    phase === 'start' &&
    Date.now() < end &&
    targets.some((pids, index) => pids.length === 0 && OF_RUN.includes((blows[index] as Blow).victim));
    targets = look()
  )
    await pause(5)
  const frozen = blows.map(
    (blow, index) => (blow.frozen > 0 ? targets[index] : [])?.filter((pid) => send(pid, 'SIGSTOP')).length ?? 0,
  )
  await pause(Math.max(0, ...blows.map((blow) => blow.frozen)))
  const down = blows.filter(({victim}) => victim === 'node' || victim === 'link' || victim === 'sshd').map(nodeOf)
  const hit: boolean[] = []
  const late = doneRanks(group, run).length > 0
  for (const [index, blow] of blows.entries()) {
    if (blow.victim === 'node') await machines.powerOff(nodeOf(blow))
    else if (blow.victim === 'link') machines.cut(nodeOf(blow))
    const killed = (targets[index] ?? []).map((pid) => send(pid, 'SIGKILL'))
    hit.push(['node', 'link'].includes(blow.victim) || killed.some(Boolean) || (frozen[index] ?? 0) > 0)
  }
  return {hit, late, machinesDown: [...new Set(down)]}
}

function pidsOf({victim, node: index}: Blow, group: Group, run: string | undefined, command: number): number[] {
  const node = group.nodes[index] as string
  const {machines} = group
  if (victim === 'command') return [command]
  if (victim === 'sshd') return machines.listener(node)
  if (victim === 'sessions') return machines.sessions(node)
  if (victim === 'node') return machines.processes(node).map((one) => one.pid)
  if (victim === 'link' || run === undefined) return []
  const folder = join(machines.root(node), 'runs', run)
  const ofModule = (module: string): number[] =>
    machines
      .processes(node)
      .filter((one) => one.command.includes(`flexrack_node.gang.${module} import`) && one.command.includes(folder))
      .map((one) => one.pid)
  if (victim === 'supervisor' || victim === 'reaper') return ofModule(victim)
  const attempt = attemptsOf(folder).at(-1)
  if (attempt === undefined) return []
  if (victim === 'launcher') {
    const started = readLines(join(folder, 'events.jsonl'))
      .filter((line) => line.event === 'started')
      .at(-1)
    return typeof started?.launcher === 'number' ? [started.launcher] : []
  }
  const records = readdirSync(join(folder, 'attempts', attempt))
    .filter((file) => /^rank-\d+\.json$/.test(file))
    .flatMap((file) => readLines(join(folder, 'attempts', attempt, file)))
  const record = records[0] // the node's first rank
  const pid = (record?.[victim === 'wrapper' ? 'wrapper' : 'pid'] ?? undefined) as number | undefined
  if (pid === undefined || record?.exit !== undefined) return []
  return victim === 'worker' ? childrenOf(pid) : [pid]
}

/** What a person would do next: look, until nothing changes any more and nothing is left; then give up. */
async function settle(
  group: Group,
  name: string,
  find: () => string | undefined,
  limit: number,
): Promise<{shown: ShownRun | undefined; left: string[]; expired: number}> {
  for (;;) {
    const fleet = openFleet(group.rack.nodes, group.context)
    const runs = openRuns({rack: group.rack, fleet}, group.context)
    let shown: ShownRun | undefined
    const left: string[] = []
    try {
      const run = find()
      if (run) shown = await runs.show(run)
    } catch (error) {
      left.push(`runs show: ${(error as Error).message}`)
    }
    await runs.close()
    await fleet.close()
    const leases = leasesOf(group, name)
    if (shown && ['starting', 'waiting', 'running', 'stopping', 'recording', 'unknown'].includes(shown.status))
      left.push(`it is ${shown.status}`)
    if (shown?.recorded === false) left.push('its record is not complete')
    left.push(...leases.filter((one) => !one.expired).map((one) => `a lease that is ${one.state}: ${one.file}`))
    // our own looking ends in a moment
    for (let tries = 0; tries < 20 && processesOf(group, find()).length > 0; tries++) await pause(100)
    left.push(...processesOf(group, find()))
    if (left.length === 0 || Date.now() > limit)
      return {shown, left, expired: leases.filter((one) => one.expired).length}
    await pause(300)
  }
}

/** Whatever runs on the nodes besides sshd, and whatever carries the run's tag anywhere on this machine. */
function processesOf(group: Group, run: string | undefined): string[] {
  const onNodes = group.nodes.flatMap((node) =>
    group.machines.processes(node).map(({pid, command}) => `process ${pid} on ${node}: ${command}`),
  )
  return [...onNodes, ...(run ? taggedPids(run).map(({pid, command}) => `tagged process ${pid}: ${command}`) : [])]
}

interface Lease {
  file: string
  state: string
  expired: boolean
}

/**
 * Files of a run's leases, straight from the folders; whether one counts follows from the clock that it was written by.
 */
export function leasesOf({machines, nodes}: Group, name: string): Lease[] {
  const now = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
  return nodes.flatMap((node) => {
    const folder = machines.reservations(node)
    return readdirSync(folder, {recursive: true, encoding: 'utf8'})
      .filter((file) => file.includes(`${name}-`) && file.endsWith('.json'))
      .flatMap((file): Lease[] => {
        const [record] = readLines(join(folder, file))
        if (!record)
          return existsSync(join(folder, file)) ? [{file: join(folder, file), state: 'damaged', expired: false}] : []
        return [
          {
            file: join(folder, file),
            state: String(record.state),
            expired: record.state !== 'running' && now - Number(record.heartbeat) > Number(record.ttl),
          },
        ]
      })
  })
}

function runsOn({machines}: Group, node: string): string[] {
  const folder = join(machines.root(node), 'runs')
  return existsSync(folder) ? readdirSync(folder).filter((run) => existsSync(join(folder, run, 'spec.json'))) : []
}

const upRanks = (group: Group, run: string): string[] =>
  filesOf(group, run, (folder) =>
    attemptsOf(folder).flatMap((attempt) =>
      readdirSync(join(folder, 'attempts', attempt)).filter(
        (file) =>
          /^rank-\d+\.log$/.test(file) &&
          readFileSync(join(folder, 'attempts', attempt, file), 'utf8').startsWith('up'),
      ),
    ),
  )

/** Marks that ranks have left after their last step: `done-ATTEMPT-RANK`. */
export const doneRanks = (group: Group, run: string | undefined): string[] =>
  run
    ? filesOf(group, run, (folder) =>
        existsSync(join(folder, 'outputs'))
          ? readdirSync(join(folder, 'outputs')).filter((file) => file.startsWith('done-'))
          : [],
      )
    : []

function filesOf({machines, nodes}: Group, run: string, of: (folder: string) => string[]): string[] {
  return nodes.flatMap((node) => of(join(machines.root(node), 'runs', run)))
}

function attemptsOf(folder: string): string[] {
  return existsSync(join(folder, 'attempts'))
    ? readdirSync(join(folder, 'attempts')).sort((a, b) => Number(a) - Number(b))
    : []
}

/** JSON values of a file, one a line; what is not there, or half written, is none. */
function readLines(file: string): Record<string, unknown>[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  } catch {
    return []
  }
}
