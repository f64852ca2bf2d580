import {CliError, isCliError, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {
  executePlan,
  fill,
  fromEnv,
  throwIfFailed,
  type FromEnv,
  type Handlers,
  type Outputs,
  type PlanOf,
  type StepOf,
  type StepOutcome,
} from '../plan/index.ts'
import type {Backend, ComesBack, GpuOrder} from '../protocol/index.ts'
import type {GpuSpec, Rack, RackNode} from '../rack/index.ts'
import {rebootTitle, warnOfReboot} from '../reboot/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {AS_BEFORE, chooseBackend, type BackendWish, type ChosenBackend} from './backend.ts'
import {forNode, loadNative, type NativeFile, type Product} from './native.ts'
import {placeFile, placeSteps, type PlaceEnv, type PlaceKinds} from './place-files.ts'

/** What became of the daemon of one node. */
export interface Served {
  node: string
  backend: Backend
  /** False where exactly this daemon ran already. */
  started: boolean
  pid: number
  port: number
  /** What starts it again when it ends. */
  keeper: 'systemd' | 'supervisor'
  /** Who starts it again after a reboot. */
  comes_back: ComesBack
}

/** The values of its environment variables stay with whoever starts it: a rack file may have secrets there. */
type StartInput = {node: string; settings: Omit<GpuOrder, 'env'> & {env: Record<string, FromEnv>}}

type ServeKinds = PlaceKinds & {'gpu.start': {input: StartInput; output: Served}}

interface ServeEnv extends PlaceEnv {
  /** By node: the variables of its daemon. */
  variables: Record<string, Record<string, string>>
}

export const SERVE_HANDLERS: Handlers<ServeKinds, ServeEnv> = {'gpu.place': placeFile, 'gpu.start': start}

export interface ServePlan {
  plan: PlanOf<ServeKinds>
  chosen: Map<string, ChosenBackend>
  failed: Map<string, Error>
}

/** What may go to a node; undefined where it was not built. */
interface Programs {
  gpud: NativeFile[]
  sim: NativeFile[] | undefined
  /** NCCL does not begin without: placed where the daemon has one. */
  nvml: NativeFile[] | undefined
}

const SIM = 'libflexrack-sim.so'
const SIM_NVML = 'libflexrack-sim-nvml.so'

const DEFAULTS: GpuSpec = {bind: ['127.0.0.1'], transport: 'auto', trustedFabric: false, grace: 30, env: {}}

/** How a node's daemon is to run: the node's own settings before the rack's. */
export function gpuSettings(rack: Rack, node: RackNode): GpuSpec {
  return {...DEFAULTS, ...rack.gpu, ...node.gpu, env: {...rack.gpu?.env, ...node.gpu?.env}}
}

/**
 * What has to be done so that these nodes serve their GPUs, and through what each does; looks only. Nodes that cannot
 * be reached, or have nothing to serve, are among `failed`.
 */
export async function planServe(
  place: {rack: Rack; fleet: Fleet},
  nodes: RackNode[],
  wish: BackendWish,
  context: Context,
): Promise<ServePlan> {
  const ifThere = (product: Product): Promise<NativeFile[] | undefined> =>
    loadNative(product, context.env).catch(() => undefined)
  const programs: Programs = {
    gpud: await loadNative('flexrack-gpud', context.env),
    sim: wish.backend === 'sim' ? await loadNative(SIM, context.env) : await ifThere(SIM),
    nvml: await ifThere(SIM_NVML),
  }
  const failed = new Map<string, Error>()
  const chosen = new Map<string, ChosenBackend>()
  const steps = await Promise.all(
    nodes.map(async (node) => {
      try {
        const planned = await planNode(
          await openHost(place.fleet, node, context),
          gpuSettings(place.rack, node),
          programs,
          wish,
          context,
        )
        chosen.set(node.name, planned.chosen)
        return planned.steps
      } catch (error) {
        if (!isCliError(error) || isCliError(error, 'INTERRUPTED')) throw error
        failed.set(node.name, error)
        return []
      }
    }),
  )
  return {plan: {command: 'gpu serve', steps: steps.flat()}, chosen, failed}
}

async function planNode(
  host: Host,
  settings: GpuSpec,
  programs: Programs,
  wish: BackendWish,
  context: Context,
): Promise<{steps: StepOf<ServeKinds>[]; chosen: ChosenBackend}> {
  const {bind, port, transport, trustedFabric, grace, env} = settings
  const names = [programs.gpud, programs.sim, programs.nvml].flatMap((files) => files?.map(({name}) => name) ?? [])
  const found = await host.call(
    'gpu.inspect',
    {programs: names, ...(wish.backend === undefined && {drivers: true, env})},
    {signal: context.signal},
  )
  const [gpud] = forNode([programs.gpud], host.node, found) as [NativeFile]
  const chosen = chooseBackend(wish, host.node, found.settings ?? undefined, found.drivers)
  const brought = chosen.backend === 'sim' ? [programs.sim ?? (await loadNative(SIM, context.env))] : []
  if (chosen.backend === 'sim' && env.FLEXRACK_NCCL)
    brought.push(programs.nvml ?? (await loadNative(SIM_NVML, context.env)))
  const [driver, nvml] = forNode(brought, host.node, found)
  const asked = wish.oversubscribe ?? settings.oversubscribe
  if (asked && chosen.backend === 'opencl')
    throw new CliError('USAGE', `${host.node} serves its GPUs through OpenCL, whose leases take no turns`, {
      hint: '--oversubscribe 0, or no gpu.oversubscribe in the rack file for this node',
      details: {node: host.node},
    })
  // What it has had for CUDA is nothing for OpenCL.
  const oversubscribe = chosen.backend === 'opencl' ? 0 : (asked ?? found.settings?.oversubscribe)
  const wanted: GpuOrder = {
    program: gpud.name,
    backend: chosen.backend,
    ...(driver && {driver: driver.name}),
    ...(nvml && {nvml: nvml.name}),
    ...(chosen.sim && {sim: chosen.sim}),
    bind,
    ...(port && {port}),
    transport,
    trusted_fabric: trustedFabric,
    grace,
    ...(oversubscribe && {oversubscribe}),
    env,
  }
  if (found.running && found.settings && isSame(wanted, found.settings)) return {steps: [], chosen}
  const steps = placeSteps(host.node, found.placed, [gpud, ...[driver, nvml].filter((file) => file !== undefined)])
  const input: StartInput = {
    node: host.node,
    settings: {
      ...wanted,
      env: Object.fromEntries(Object.keys(env).map((name) => [name, fromEnv('variables', host.node, name)])),
    },
  }
  const at = port || found.settings?.port ? `port ${port ?? found.settings?.port}` : 'a free port'
  const title = `${found.running ? 'Replace' : 'Start'} the GPU daemon (${chosen.backend}${chosen.why ? `: ${chosen.why}` : ''}) on ${bind.join(', ')}, ${at}${found.keeper === 'systemd' ? ', as a systemd user unit' : ''}${rebootTitle(found.comes_back)}${found.running ? '; programs that use it run on' : ''}`
  return {
    steps: [
      ...steps,
      {id: `start:${host.node}`, node: host.node, kind: 'gpu.start', title, input, needs: steps.map((step) => step.id)},
    ],
    chosen,
  }
}

/** The port that was chosen stays, where none is asked for. */
function isSame(wanted: GpuOrder, has: GpuOrder): boolean {
  const {port, ...rest} = has
  return canonical(wanted) === canonical(wanted.port === undefined ? rest : {...rest, port})
}

function canonical(value: object): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

/**
 * Has these nodes serve their GPUs; run again it changes nothing. Says what was chosen where nobody asked. Throws as
 * throwIfFailed, with every node.
 */
export async function serveGpus(
  place: {rack: Rack; fleet: Fleet},
  nodes: RackNode[],
  wish: BackendWish,
  context: Context,
): Promise<Served[]> {
  const {plan, chosen, failed} = await planServe(place, nodes, wish, context)
  tellChosen(nodes, chosen, context)
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const host = (name: string): Promise<Host> => openHost(place.fleet, byName.get(name) as RackNode, context)
  const reached = nodes.map(({name}): StepOutcome => ({
    step: {id: `reach:${name}`, node: name, kind: 'reach', title: '', input: {}, needs: []},
    status: failed.has(name) ? 'failed' : 'done',
    error: failed.get(name) as Error,
  }))
  const variables = Object.fromEntries(nodes.map((node) => [node.name, gpuSettings(place.rack, node).env]))
  const outcomes = await executePlan(plan, SERVE_HANDLERS, {host, variables, context}, context)
  throwIfFailed([...reached, ...outcomes])
  const started = new Map(
    outcomes.filter((one) => one.step.kind === 'gpu.start').map((one) => [one.step.node, one.value as Served]),
  )
  return Promise.all(
    nodes.map(async (node) => started.get(node.name) ?? alreadyServed(await openHost(place.fleet, node, context))),
  )
}

/** Nodes with the same reason in one line. */
function tellChosen(nodes: RackNode[], chosen: Map<string, ChosenBackend>, context: Context): void {
  const own = nodes.filter(({name}) => ![undefined, AS_BEFORE].includes(chosen.get(name)?.why))
  const reported = Map.groupBy(own, ({name}) => `${chosen.get(name)?.backend} (${chosen.get(name)?.why})`)
  for (const [text, alike] of reported) context.reporter.note(`${alike.map(({name}) => name).join(', ')}: ${text}`)
}

async function start(
  {node, settings}: StartInput,
  done: Outputs<ServeKinds>,
  {host, variables, context}: ServeEnv,
): Promise<Served> {
  const progress = context.reporter.begin('Start the GPU daemon', node)
  try {
    const served = await (
      await host(node)
    ).call('gpu.start', fill(settings, (from) => done.at(from), {variables}) as GpuOrder, {signal: context.signal})
    progress.done()
    warnOfReboot(node, 'the GPU daemon', served.comes_back, context)
    return {node, backend: settings.backend, ...served}
  } catch (error) {
    progress.fail()
    throw error
  }
}

async function alreadyServed(host: Host): Promise<Served> {
  const found = await host.call('gpu.inspect', {programs: []})
  if (found.pid === null || !found.settings?.port)
    throw new CliError('GPU_FAILED', `the GPU daemon on ${host.node} has just ended`, {
      hint: 'flexrack gpu serve',
      details: {node: host.node},
    })
  return {
    node: host.node,
    backend: found.settings.backend,
    started: false,
    pid: found.pid,
    port: found.settings.port,
    keeper: found.keeper,
    comes_back: found.comes_back,
  }
}
