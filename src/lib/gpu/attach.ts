import {hostname, userInfo} from 'node:os'
import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {Plan} from '../plan/index.ts'
import type {Api} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {apiOf} from './backend.ts'
import {leaseEnvironment, leaseFile} from './lease-file.ts'
import {lossFile, readLoss, type Loss} from './loss.ts'
import {mirrorFile, readMirror, type MirrorReport} from './mirror.ts'
import {findRoute, type Route, type RouteWay} from './reach.ts'
import {requestText} from './shortage.ts'
import {prepareHere, prepareNode} from './site.ts'
import {readGpuNodes} from './state.ts'
import {choiceTitle, chooseNow, releaseLeases, takeLeases, type TakenLease, type TakeInput} from './take.ts'
import type {GpuRequest} from './types.ts'

export interface AttachInput {
  /** Nodes whose devices may be taken. */
  nodes: RackNode[]
  request: GpuRequest
  /** The command and its arguments; only the first word is told to others. */
  words: string[]
  /** Seconds to wait for devices that others have; Infinity: for ever. */
  wait?: number
  /** How to talk to all daemons; by default what each one's rack file says. */
  transport?: string
  /** The node on which the command runs; by default here. */
  on?: Host
  /** The command ends with its leases, and `readLoss` says that they were lost; not with `on`. */
  asksLoss?: boolean
}

/** Devices of one node that a command was given; memory in bytes. */
export interface AttachedLease {
  node: string
  lease: string
  api: Api
  devices: {id: string; name: string; memory: number}[]
  /** How the command reaches them, as it was tried. */
  way: RouteWay
  /** Their data goes through SSH: `way` is tunnel. */
  tunnel: boolean
}

/** Devices that are ours until `release`, and how a command gets at them. */
export interface Attached {
  leases: AttachedLease[]
  /** How each lease's daemon is reached, in the order of `leases`. */
  ways: {server: TakenLease['server']; route: Route}[]
  /** Put in front of the command: it holds the leases while the command runs. */
  prefix: string[]
  /** Added to the command's environment. */
  env: Record<string, string>
  /** A folder to be first in the command's LD_LIBRARY_PATH; null: nothing is. */
  libraries: string | null
  /** What was lost while the command ran, if that is asked; before `release`. */
  readLoss(): Promise<Loss | null>
  /** What the two servers of a mirrored program did not have in common; before `release`. */
  readMirror(): Promise<MirrorReport>
  /** Gives everything back. Never throws. */
  release(): Promise<void>
}

interface Place {
  rack: Rack
  fleet: Fleet
}

/** What `attach` would take now. Throws as attachGpus. */
export async function planAttach(place: Place, input: AttachInput, context: Context): Promise<Plan> {
  const choices = await chooseNow(place, input, context)
  const leases = choices.map((choice) => ({
    id: `lease:${choice.node}`,
    node: choice.node,
    kind: 'gpu.lease',
    title: choiceTitle(choice, input.request),
    input: {devices: choice.devices, ...input.request},
    needs: [],
  }))
  const run = {
    id: 'run',
    node: input.on?.node ?? null,
    kind: 'gpu.run',
    title: `Run ${input.words.join(' ')}${input.request.mirror ? ', on both GPUs at the same time' : ''}, and give back what was leased when it ends`,
    input: {words: input.words, ...(input.request.mirror && {mirror: input.request.mirror})},
    needs: leases.map((step) => step.id),
  }
  return {command: input.on ? 'workspace exec' : 'attach', steps: [...leases, run]}
}

/**
 * Leases devices for a command. Nothing stays taken where this throws: GPU_UNAVAILABLE, TIMED_OUT, NATIVE_MISSING,
 * INTERRUPTED, and the errors of nodes.
 */
export async function attachGpus(place: Place, input: AttachInput, context: Context): Promise<Attached> {
  const {on, transport} = input
  const looked = await readGpuNodes(input.nodes, place.fleet, context)
  throwIfInterrupted(context.signal)
  // What the command will need is put there before anything is leased: a lease that nobody holds ends soon.
  const api = input.request.api ?? apiOf(looked.flatMap(({value}) => value?.devices ?? []))
  const site = on ? await prepareNode(on, api, context) : prepareHere(api, context)
  const taking = {
    ...takeInput(input),
    request: {...input.request, api},
    looked,
    ...(input.wait !== undefined && {wait: input.wait}),
  }
  const leases = await takeLeases(place, taking, context)
  const routes: Route[] = []
  const undo: (() => Promise<unknown>)[] = [() => releaseLeases(place, leases, context)]
  const release = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step().catch(() => {})
  }
  try {
    for (const lease of leases) {
      const route = await findRoute(place, lease, {from: on, transport}, context)
      undo.unshift(() => route.close())
      routes.push(route)
    }
    if (transport === 'shm') checkShared(leases, routes)
    tellTunnels(leases, routes, on, context)
    const content = leaseFile(leases, routes, transport, input.request.mirror)
    const placed = await site.deliver(content)
    undo.push(() => placed.remove())
    context.signal.throwIfAborted()
    context.reporter.note(
      `${requestText(input.request)}: ${leases.map((one, index) => `${one.devices.length > 1 ? `${one.devices.length} of ` : ''}${one.node} ${wayText(routes[index] as Route)}`).join(', ')}`,
    )
    return {
      leases: leases.map(({node, lease, server, devices}, index) => ({
        node,
        lease,
        api: server.api,
        devices: devices.map(({id, name, memory}) => ({id, name, memory})),
        way: (routes[index] as Route).way,
        tunnel: (routes[index] as Route).way === 'tunnel',
      })),
      ways: leases.map(({server}, index) => ({server, route: routes[index] as Route})),
      prefix: [
        placed.keeper,
        ...(on ? ['--remote'] : []),
        ...(input.asksLoss ? ['--end-with-lease'] : []),
        placed.file,
        '--',
      ],
      env: {
        ...leaseEnvironment(placed, transport, content.servers, {
          collectives: !input.request.mirror && leases.every(({node}) => carriesCollectives(place.rack, node)),
          ...(!on && {preloaded: context.env.LD_PRELOAD}),
        }),
        ...(input.asksLoss && {FLEXRACK_LEASE_LOST: lossFile(placed.file)}),
        ...(input.request.mirror && {FLEXRACK_MIRROR_REPORT: mirrorFile(placed.file)}),
      },
      libraries: placed.libraries,
      readLoss: () => readLoss(placed.file),
      readMirror: () => readMirror(placed.file),
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

function takeInput({nodes, request, words, on}: AttachInput): Omit<TakeInput, 'wait' | 'looked'> {
  const program = (words[0] ?? '').split('/').at(-1) ?? ''
  return {
    nodes,
    request,
    owner: `${userInfo().username}@${hostname()}`,
    purpose: `${on ? `exec on ${on.node}:` : request.mirror ? 'attach --mirror' : 'attach'} ${program}`,
  }
}

/** The node's daemon is told which NCCL to have (docs/adr/0073). */
function carriesCollectives(rack: Rack, name: string): boolean {
  const node = rack.nodes.find((one) => one.name === name)
  return Boolean({...rack.gpu?.env, ...node?.gpu?.env}.FLEXRACK_NCCL)
}

/** For people: by which of the ways that were tried. */
function wayText({way, address, port}: Route): string {
  if (way === 'shared-memory') return 'through shared memory'
  return way === 'address' ? `at ${address}:${port}` : 'through SSH'
}

/** Shared memory is asked for, and only there where both are one machine. */
function checkShared(leases: TakenLease[], routes: Route[]): void {
  const away = leases.filter((_, index) => routes[index]?.unix === '').map((one) => one.node)
  if (away.length > 0)
    throw new CliError(
      'USAGE',
      `--transport shm needs the GPU on the machine that runs the command, and ${away.join(', ')} ${away.length === 1 ? 'is another' : 'are others'}`,
      {hint: '--transport auto'},
    )
}

function tellTunnels(leases: TakenLease[], routes: Route[], on: Host | undefined, context: Context): void {
  const through = leases.filter((_, index) => routes[index]?.way === 'tunnel').map((one) => one.node)
  if (through.length === 0) return
  context.reporter.warn(
    `${through.join(', ')}: no direct way from ${on ? on.node : 'here'} to the GPU daemon, so its data goes through SSH, which is slower; gpu.bind in the rack file opens it to the network`,
  )
}
