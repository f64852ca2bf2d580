import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError, Secret, throwIfInterrupted, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {NodeReport} from '../nodes/index.ts'
import type {Api, LeaseRequest} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {apiOf} from './backend.ts'
import {chooseDevices, fits} from './choose.ts'
import {GpuShortage, requestText, shortage} from './shortage.ts'
import {readGpuNodes} from './state.ts'
import type {Choice, GpuNode, GpuRequest} from './types.ts'

/** A lease that is ours, with its key. */
export interface TakenLease {
  node: string
  lease: string
  key: Secret
  graceSeconds: number
  server: {
    address: string
    port: number
    unix: string
    boot_id: string
    transport: 'auto' | 'tls' | 'tcp' | 'shm'
    api: Api
  }
  devices: {id: string; name: string; memory: number}[]
}

export interface TakeInput {
  nodes: RackNode[]
  request: GpuRequest
  owner: string
  purpose: string
  /** Seconds to wait for devices that others have: Infinity waits for ever, absent not at all. */
  wait?: number
  /** What the nodes have just said: instead of asking them once more. */
  looked?: NodeReport<GpuNode>[]
}

interface Place {
  rack: Rack
  fleet: Fleet
}

const LOOK_MS = 1000

/**
 * Which devices a request would get now. Throws GPU_UNAVAILABLE: what is free, who has the rest. Nodes that are away
 * are warned of.
 */
export async function chooseNow(
  {rack, fleet}: Place,
  {nodes, request, looked}: Pick<TakeInput, 'nodes' | 'request' | 'looked'>,
  context: Context,
): Promise<Choice[]> {
  const reports = looked ?? (await readGpuNodes(nodes, fleet, context))
  throwIfInterrupted(context.signal)
  const all = reports.flatMap(({value}) => value?.devices ?? [])
  const api = request.api ?? apiOf(all)
  const devices = all.filter((device) => device.api === api)
  const chosen = chooseDevices(devices, request)
  if (chosen) return chosen
  tellAway(reports, context)
  const free = devices.filter((device) => fits(device, request))
  const where = nodes.length === rack.nodes.length ? `rack ${rack.name}` : nodes.map((node) => node.name).join(', ')
  throw shortage(devices, request, free, where, all.length > 0 ? api : undefined)
}

/**
 * Leases for a request: all of it or nothing. Errors: GPU_UNAVAILABLE, TIMED_OUT where waiting was limited,
 * INTERRUPTED.
 */
export async function takeLeases(place: Place, input: TakeInput, context: Context): Promise<TakenLease[]> {
  const begun = Date.now()
  const {looked: first, ...again} = input
  let looked = first
  let waiting: ReturnType<Context['reporter']['begin']> | undefined
  try {
    for (let raced = 0; ;) {
      try {
        const quiet = waiting ? {...context, reporter: {...context.reporter, begin: silent, warn() {}}} : context
        const choices = await chooseNow(place, looked ? {...again, looked} : again, quiet)
        const taken = await takeNow(place, input, choices, quiet)
        waiting?.done(`${requestText(input.request)}: it is our turn`)
        return taken
      } catch (error) {
        looked = undefined
        if (!(error instanceof GpuShortage)) throw error
        if (error.helps === 'looking again' && raced++ < 1) continue
        if (input.wait === undefined || error.helps === 'nothing') throw error
        if (Date.now() - begun > input.wait * 1000)
          throw new CliError('TIMED_OUT', `${error.message}, and that did not change in ${input.wait} s`, {
            details: error.details,
            cause: error,
          })
        waiting ??= context.reporter.begin(`Waiting: ${error.message}`)
        await pause(LOOK_MS, undefined, {signal: context.signal}).catch(() => throwIfInterrupted(context.signal))
      }
    }
  } catch (error) {
    waiting?.fail()
    throw error
  }
}

/** Leases of exactly these devices: all or none. Errors: GPU_UNAVAILABLE where somebody was quicker, INTERRUPTED. */
export async function takeNow(
  {rack, fleet}: Place,
  {request, owner, purpose}: Pick<TakeInput, 'request' | 'owner' | 'purpose'>,
  choices: Choice[],
  context: Context,
): Promise<TakenLease[]> {
  const requested = await Promise.allSettled(
    choices.map(async (choice) => {
      const host = await openHost(fleet, rack.nodes.find((node) => node.name === choice.node) as RackNode, context)
      return ask(host, choice, {request, owner, purpose})
    }),
  )
  const taken = requested.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = requested.find((one) => one.status === 'rejected')?.reason as Error | undefined
  if (!failed && !context.signal.aborted) return taken
  await releaseLeases({rack, fleet}, taken, context)
  throwIfInterrupted(context.signal)
  if (isCliError(failed, 'GPU_UNAVAILABLE'))
    throw new GpuShortage('looking again', failed.message, {
      hint: '--wait',
      details: {node: failed.details.node},
      cause: failed,
    })
  throw failed
}

async function ask(
  host: Host,
  choice: Choice,
  {request, owner, purpose}: Pick<TakeInput, 'request' | 'owner' | 'purpose'>,
): Promise<TakenLease> {
  const {memory, fraction, cap} = request
  const share = fraction !== undefined && fraction < 1 ? {fraction} : memory !== undefined ? {memory} : {whole: true}
  return leaseOn(host, {devices: choice.devices.map((one) => one.id), ...share, cap, owner, purpose})
}

/** One lease of one node, exactly as it says. Errors: GPU_UNAVAILABLE, those of nodes. */
export async function leaseOn(host: Host, request: LeaseRequest): Promise<TakenLease> {
  const {lease, key, grace_seconds: graceSeconds, server, devices} = await host.call('gpu.lease', request)
  return {
    node: host.node,
    lease,
    key: new Secret(key),
    graceSeconds,
    server: {...server, api: server.api ?? 'opencl'},
    devices,
  }
}

/** Gives leases back; one that cannot be reached ends by itself, because nobody holds it any more. Never throws. */
export async function releaseLeases(
  {rack, fleet}: Place,
  leases: Pick<TakenLease, 'node' | 'lease'>[],
  context: Context,
): Promise<void> {
  await Promise.allSettled(
    leases.map(async ({node, lease}) => {
      const host = await openHost(fleet, rack.nodes.find((one) => one.name === node) as RackNode, context)
      await host.call('gpu.release', {lease})
    }),
  )
}

/** For a plan: what a choice takes. Pure. */
export function choiceTitle(choice: Choice, request: GpuRequest): string {
  return `Lease ${requestText({...withoutMirror(request), count: choice.devices.length})}: ${choice.devices.map(({index, name}) => `${index} (${name})`).join(', ')}`
}

function withoutMirror({mirror: _, ...request}: GpuRequest): GpuRequest {
  return request
}

function tellAway(reports: NodeReport<GpuNode>[], context: Context): void {
  for (const report of reports) {
    if (!report.ok) context.reporter.warn(`${report.node} was not asked: ${report.message}`)
    else if (report.value?.state === 'stopped')
      context.reporter.warn(
        `the GPU daemon of ${report.node} does not run; start it with: flexrack gpu serve ${report.node}`,
      )
  }
}

const silent = (): ReturnType<Context['reporter']['begin']> => ({detail() {}, amount() {}, done() {}, fail() {}})
