import {stat} from 'node:fs/promises'
import {userInfo} from 'node:os'
import {dirname, resolve} from 'node:path'
import {CliError, count, ensurePrivateFolder, type Context} from '../base/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import {askDaemon, controlPath} from './control.ts'
import {localLayout, type LocalLayout} from './layout.ts'
import {withLock} from './lock.ts'
import {endRackProcesses, listRackProcesses} from './rack-processes.ts'
import {daemonState, newRack, readRack, writeRack} from './rack-state.ts'
import {startDaemon} from './start.ts'
import {localStatus} from './status.ts'
import type {DaemonState, LocalNode, LocalRack, LocalStatus} from './types.ts'

export interface LocalUpInput {
  /** How many nodes there shall be, node-1 to node-N; default: as many as it had, else 3. */
  nodes?: number
  /** Folder of Python environments that the nodes share; default: the one it had, else one of its own. */
  environments?: string
  /** As sshd's MaxSessions; 64 by default. */
  maxSessions?: number
  /** Pid of a process that the rack must not outlive (tests); only looked at when the rack is started. */
  owner?: number
}

const DEFAULT_NODES = 3
const MAX_NODES = 256
const GRACE_MS = 10_000

type UpKinds = {
  'local.start': {input: Record<string, never>; output: void}
  'local.nodes': {input: {added: string[]; removed: string[]}; output: void}
  /** `processes`: how many were found; all that are there then are ended. */
  'local.end': {input: {node: string; processes: number}; output: number}
  'local.rack-file': {input: {nodes: number}; output: void}
}

interface UpEnv {
  layout: LocalLayout
  /** As it is to be: ports and key of its nodes are this machine's own business. */
  rack: LocalRack
  owner: number | undefined
  ctx: Context
}

const HANDLERS: Handlers<UpKinds, UpEnv> = {
  'local.start': (_input, _done, {layout, rack, owner, ctx}) => startDaemon(layout, rack.id, owner, ctx),
  'local.nodes': changeNodes,
  'local.end': ({node}, _done, {layout, rack}) => endRackProcesses(layout, rack, GRACE_MS, node),
  'local.rack-file': writeOwnRackFile,
}

/** What `local up` would do now. Throws USAGE for an impossible number of nodes. */
export async function planLocalUp(input: LocalUpInput, ctx: Context): Promise<PlanOf<UpKinds>> {
  const layout = localLayout(ctx.env)
  const {rack, daemon} = await look(layout)
  return makePlan(layout, rack, daemon, input)
}

/**
 * Makes the local rack have that many nodes, running, with the rack file `local`. Nothing happens where that is so.
 * Nodes beyond N are taken down with what runs on them; their homes stay. Errors: LOCKED, NODE_UNFIT.
 */
export async function localUp(input: LocalUpInput, ctx: Context): Promise<LocalStatus> {
  const layout = localLayout(ctx.env)
  await ensurePrivateFolder(dirname(layout.folder))
  await ensurePrivateFolder(layout.folder)
  await withLock(layout.lock, ctx, async () => {
    const {rack, daemon} = await look(layout)
    const plan = await makePlan(layout, rack, daemon, input)
    if (plan.steps.length === 0) return
    const wanted: LocalRack = {
      ...rack,
      up: true,
      nodes: wantedNodes(rack, daemon, wantedCount(rack, input)),
      environments: input.environments ? resolve(input.environments) : rack.environments,
      maxSessions: input.maxSessions ?? rack.maxSessions,
    }
    await writeRack(layout, wanted)
    await ensurePrivateFolder(wanted.environments)
    throwIfFailed(await executePlan(plan, HANDLERS, {layout, rack: wanted, owner: input.owner, ctx}, ctx))
  })
  return localStatus(ctx)
}

async function look(layout: LocalLayout): Promise<{rack: LocalRack; daemon: DaemonState | undefined}> {
  const known = await readRack(layout)
  return {rack: known ?? newRack(layout), daemon: known && (await daemonState(layout))}
}

async function makePlan(
  layout: LocalLayout,
  rack: LocalRack,
  daemon: DaemonState | undefined,
  input: LocalUpInput,
): Promise<PlanOf<UpKinds>> {
  const wanted = wantedCount(rack, input)
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_NODES) {
    throw new CliError('USAGE', `a local rack has 1 to ${MAX_NODES} nodes, not ${wanted}`, {
      hint: 'flexrack local up --nodes 3',
    })
  }
  if (!rack.up && (await exists(layout.rackFile)) && !(await (await import('./rack-file.ts')).isOurs(layout))) {
    throw new CliError(
      'CONFLICT',
      `there is a rack named local already, and not one of this machine: ${layout.rackFile}`,
      {hint: `mv ${layout.rackFile} ${layout.rackFile.replace(/local\.yaml$/, 'NAME.yaml')}`},
    )
  }
  const steps: StepOf<UpKinds>[] = []
  const add = (step: Omit<StepOf<UpKinds>, 'needs'>): void => {
    steps.push({...step, needs: steps.slice(-1).map((one) => one.id)} as StepOf<UpKinds>)
  }
  const names = nodeNames(wanted)
  const running = daemon?.nodes.map((node) => node.name) ?? []
  if (!daemon) add({id: 'start', kind: 'local.start', node: null, title: 'Start the background process', input: {}})
  const added = names.filter((name) => !running.includes(name))
  const removed = running.filter((name) => !names.includes(name))
  const sessions = input.maxSessions !== undefined && input.maxSessions !== rack.maxSessions
  if (added.length + removed.length > 0 || sessions)
    add({id: 'nodes', kind: 'local.nodes', node: null, title: nodesTitle(added, removed), input: {added, removed}})
  for (const name of removed) {
    const processes = (await listRackProcesses(layout, rack)).filter((one) => one.node === name).length
    add({
      id: `end:${name}`,
      kind: 'local.end',
      node: name,
      title: `End what runs there (${count(processes, 'process', 'processes')} now); its home stays`,
      input: {node: name, processes},
    })
  }
  const moved = input.environments !== undefined && resolve(input.environments) !== rack.environments
  if (steps.length > 0 || moved || !rack.up || !(await exists(layout.rackFile)) || !(await exists(layout.knownHosts))) {
    add({
      id: 'rack-file',
      kind: 'local.rack-file',
      node: null,
      title: `Write the rack file ${layout.rackFile}`,
      input: {nodes: names.length},
    })
  }
  return {command: 'local up', steps}
}

async function changeNodes(_input: object, _done: unknown, {layout, rack, ctx}: UpEnv): Promise<void> {
  const progress = ctx.reporter.begin(`Starting ${rack.nodes.length} local nodes`)
  try {
    await askDaemon(
      controlPath(layout.folder),
      {ask: 'nodes', nodes: rack.nodes, maxSessions: rack.maxSessions},
      120_000,
    )
    progress.done(`${rack.nodes.length} local nodes are up`)
  } catch (error) {
    progress.fail()
    throw new CliError('NODE_UNFIT', `the local nodes did not start: ${(error as Error).message}`, {
      hint: `see ${layout.log}`,
      cause: error,
    })
  }
}

async function writeOwnRackFile(_input: object, _done: unknown, {layout, rack}: UpEnv): Promise<void> {
  const daemon = await daemonState(layout)
  if (!daemon)
    throw new CliError('NODE_UNFIT', `the local rack's background process ended; its log is ${layout.log}`, {
      hint: 'flexrack local up',
    })
  // The ports that were really taken, so that the next start asks for the same.
  await writeRack(layout, {...rack, nodes: daemon.nodes})
  // Loaded only here: it brings the YAML library, which `local status` does not need.
  const {writeRackFile} = await import('./rack-file.ts')
  await writeRackFile(layout, rack, daemon.nodes, userInfo().username)
}

function wantedCount(rack: LocalRack, input: LocalUpInput): number {
  return input.nodes ?? (rack.nodes.length || DEFAULT_NODES)
}

function wantedNodes(rack: LocalRack, daemon: DaemonState | undefined, count: number): LocalNode[] {
  const ports = new Map([...rack.nodes, ...(daemon?.nodes ?? [])].map((node) => [node.name, node.port]))
  return nodeNames(count).map((name) => ({name, port: ports.get(name) ?? 0}))
}

function nodeNames(count: number): string[] {
  return Array.from({length: count}, (_, index) => `node-${index + 1}`)
}

function nodesTitle(added: string[], removed: string[]): string {
  const range = (names: string[]): string => (names.length > 2 ? `${names[0]} to ${names.at(-1)}` : names.join(' and '))
  const parts = [
    added.length > 0 ? `start ${range(added)}` : '',
    removed.length > 0 ? `take down ${range(removed)}` : '',
  ].filter(Boolean)
  const text = parts.join(', ') || 'change the number of sessions'
  return text.charAt(0).toUpperCase() + text.slice(1)
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
