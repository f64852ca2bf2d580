import {sendFile} from '../artifact/index.ts'
import {CliError, isCliError, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed, type Plan, type Step} from '../plan/index.ts'
import type {GpuSpec, Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {checkMachine, loadNative, type NativeFile} from './native.ts'

/** What became of the daemon of one node. */
export interface Served {
  node: string
  /** False where exactly this daemon ran already. */
  started: boolean
  pid: number
  port: number
  /** What starts it again when it ends. */
  keeper: 'systemd' | 'supervisor'
  /** False where systemd ends it when the user logs out. */
  linger: boolean
}

/** What a node is asked to start: the input of gpu.start. */
interface StartInput extends Record<string, unknown> {
  program: string
  backend: string
  bind: string[]
  port?: number
  transport: string
  trusted_fabric: boolean
  grace: number
  env: Record<string, string>
}

interface Found {
  folder: string
  system: string
  machine: string
  placed: string[]
  keeper: Served['keeper']
  running: boolean
  pid: number | null
  settings: StartInput | null
}

const DEFAULTS: GpuSpec = {bind: ['127.0.0.1'], transport: 'auto', trustedFabric: false, grace: 30, env: {}}

/** How a node's daemon is to run: the node's own settings before the rack's. */
export function gpuSettings(rack: Rack, node: RackNode): GpuSpec {
  return {...DEFAULTS, ...rack.gpu, ...node.gpu, env: {...rack.gpu?.env, ...node.gpu?.env}}
}

/** What has to be done so that these nodes serve their GPUs; looks only. Nodes that cannot be reached are among `failed`. */
export async function planServe(place: {rack: Rack; fleet: Fleet}, nodes: RackNode[], backend: string, context: Context): Promise<{plan: Plan; failed: Map<string, Error>}> {
  const program = await loadNative('flexrack-gpud', context.env)
  const failed = new Map<string, Error>()
  const steps = await Promise.all(nodes.map(async (node) => {
    try {
      return await planNode(await openHost(place.fleet, node, context), gpuSettings(place.rack, node), program, backend, context)
    } catch (error) {
      if (!isCliError(error) || isCliError(error, 'INTERRUPTED')) throw error
      failed.set(node.name, error)
      return []
    }
  }))
  return {plan: {command: 'gpu serve', steps: steps.flat()}, failed}
}

async function planNode(host: Host, settings: GpuSpec, program: NativeFile, backend: string, context: Context): Promise<Step[]> {
  const found = await host.call<Found>('gpu.inspect', {programs: [program.name]}, {signal: context.signal})
  checkMachine(program, host.node, found)
  const {bind, port, transport, trustedFabric, grace, env} = settings
  const input: StartInput = {program: program.name, backend, bind, ...(port && {port}), transport, trusted_fabric: trustedFabric, grace, env}
  if (found.running && found.settings && isSame(input, found.settings)) return []
  const steps = placeSteps(host.node, found.placed, [program])
  const title = `${found.running ? 'Replace' : 'Start'} the GPU daemon (${backend}) on ${bind.join(', ')}, ${port || found.settings?.port ? `port ${port ?? found.settings?.port}` : 'a free port'}${found.keeper === 'systemd' ? ', as a systemd user unit' : ''}${found.running ? '; programs that use it run on' : ''}`
  return [...steps, {id: `start:${host.node}`, node: host.node, kind: 'gpu.start', title, input, needs: steps.map((step) => step.id)}]
}

/** The port that was chosen stays, where none is asked for. */
function isSame(wanted: StartInput, has: StartInput): boolean {
  const {port, ...rest} = has
  return canonical(wanted) === canonical(wanted.port === undefined ? rest : {...rest, port})
}

function canonical(value: object): string {
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'object' && one !== null && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one))
}

/** Steps that put files on a node, but for those it has. */
export function placeSteps(node: string, placed: string[], files: NativeFile[]): Step[] {
  return files.filter((file) => !placed.includes(file.name)).map(({name, sha256, file, executable}) => (
    {id: `place:${node}:${name}`, node, kind: 'gpu.place', title: `Put ${name} there`, input: {name, sha256, file, executable}, needs: []}
  ))
}

/** Carries placeSteps out; progress in bytes. */
export async function placeFile(host: Host, step: Step, context: Context): Promise<void> {
  const {file, ...input} = step.input as {file: string; name: string}
  await sendFile(host, {file, verb: 'gpu.place', input, title: `Sending ${input.name}`}, context)
}

/** Has these nodes serve their GPUs; run again it changes nothing. Throws as throwIfFailed, with every node. */
export async function serveGpus(place: {rack: Rack; fleet: Fleet}, nodes: RackNode[], backend: string, context: Context): Promise<Served[]> {
  const {plan, failed} = await planServe(place, nodes, backend, context)
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const hostOf = (step: Step): Promise<Host> => openHost(place.fleet, byName.get(step.node as string) as RackNode, context)
  const reached = nodes.map(({name}) => ({step: {id: `reach:${name}`, node: name, kind: 'reach', title: '', input: {}, needs: []}, status: failed.has(name) ? 'failed' as const : 'done' as const, error: failed.get(name) as Error}))
  const outcomes = await executePlan(plan, {
    'gpu.place': async (step) => placeFile(await hostOf(step), step, context),
    'gpu.start': async (step) => start(await hostOf(step), step, context),
  }, context)
  throwIfFailed([...reached, ...outcomes])
  const started = new Map(outcomes.filter((one) => one.step.kind === 'gpu.start').map((one) => [one.step.node, one.value as Served]))
  return Promise.all(nodes.map(async (node) => started.get(node.name) ?? alreadyServed(await openHost(place.fleet, node, context))))
}

async function start(host: Host, step: Step, context: Context): Promise<Served> {
  const progress = context.reporter.begin('Start the GPU daemon', host.node)
  try {
    const served = await host.call<Omit<Served, 'node'>>('gpu.start', step.input, {signal: context.signal})
    progress.done()
    if (!served.linger) context.reporter.warn(`${host.node}: systemd ends the daemon when you log out there; to keep it: loginctl enable-linger`)
    return {node: host.node, ...served}
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function alreadyServed(host: Host): Promise<Served> {
  const found = await host.call<Found>('gpu.inspect', {programs: []})
  if (found.pid === null || !found.settings?.port) throw new CliError('GPU_FAILED', `the GPU daemon on ${host.node} has just ended`, {hint: 'flexrack gpu serve', details: {node: host.node}})
  return {node: host.node, started: false, pid: found.pid, port: found.settings.port, keeper: found.keeper, linger: true}
}
