import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import {executePlan, throwIfFailed, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import type {LeaseRequest, MoveTarget} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {hasRoom} from './choose.ts'
import {leaseServer} from './lease-file.ts'
import {wayTo} from './reach.ts'
import {programsOf, whose} from './release.ts'
import {leaseOn, releaseLeases, type TakenLease} from './take.ts'
import type {Choice, GpuDevice, Lease} from './types.ts'

/** A lease on its way: the daemon that has it, and the devices that it would get elsewhere. */
export interface Move {
  lease: Lease
  to: Choice
}

/** A lease that has gone to another node. */
export interface MovedLease {
  lease: string
  from: string
  to: string
  /** What it is called there. */
  became: string
  /** Programs that went with it. */
  programs: number
  /** The longest that one of them waited. */
  pauseSeconds: number
}

interface Place {
  rack: Rack
  fleet: Fleet
}

/** One lease: `request` is what is taken of the other node for it. */
export type MoveKinds = {'gpu.move': {input: MoveInput; output: MovedLease}}

type MoveInput = {node: string; lease: string; to: string; request: LeaseRequest; restSeconds: number}

export interface MoveEnv extends Place {
  context: Context
}

export const MOVE_HANDLERS: Handlers<MoveKinds, MoveEnv> = {'gpu.move': (input, _done, env) => moveOne(input, env)}

/** What moving does. Pure. */
export function movePlan(command: string, moves: readonly Move[], restSeconds: number): PlanOf<MoveKinds> {
  return {
    command,
    steps: moves.map(({lease, to}, index): StepOf<MoveKinds> => ({
      id: `move:${lease.lease}`,
      node: lease.node,
      kind: 'gpu.move',
      // One after the other: they share the nodes' links, and a program is to wait for its own bytes alone.
      needs: index === 0 ? [] : [`move:${(moves[index - 1] as Move).lease.lease}`],
      input: {node: lease.node, lease: lease.lease, to: to.node, request: likeIt(lease, to), restSeconds},
      title: `Move ${whose(lease)} to ${to.node}, GPU ${to.devices.map((one) => one.index).join(', ')}, with ${programsOf(lease)}`,
    })),
  }
}

/** Moves them one after the other. Errors: as throwIfFailed. */
export async function moveAll(plan: PlanOf<MoveKinds>, env: MoveEnv): Promise<MovedLease[]> {
  const outcomes = await executePlan(plan, MOVE_HANDLERS, env, env.context)
  throwIfFailed(outcomes)
  return outcomes.map((one) => one.value as MovedLease)
}

/** A lease like it there, its programs there, and the old one is gone; or nothing has changed. */
async function moveOne({node, lease, to, request, restSeconds}: MoveInput, env: MoveEnv): Promise<MovedLease> {
  const {context, ...place} = env
  const target = await openHost(place.fleet, nodeOf(place, to), context)
  const taken = await leaseOn(target, request)
  try {
    throwIfInterrupted(context.signal)
    const source = await openHost(place.fleet, nodeOf(place, node), context)
    const there = await targetOf(place, taken, source, context)
    const moved = await source.call('gpu.move', {lease, to: there, rest_seconds: restSeconds})
    return {
      lease,
      from: node,
      to,
      became: taken.lease,
      programs: moved.sessions,
      pauseSeconds: moved.pause_seconds,
    }
  } catch (error) {
    const reason = error instanceof CliError ? error.details.reason : undefined
    // Some of its programs are there already where the daemon says so: then both leases go on.
    if (reason !== 'in_two') await releaseLeases(place, [taken], context)
    if (reason !== 'stays') throw error
    throw new CliError('GPU_REFUSED', `lease ${lease.slice(0, 8)} stays on ${node}: ${(error as CliError).message}`, {
      hint: 'flexrack gpu leases',
      details: {lease, node},
      cause: error,
    })
  }
}

/** The same share of as many devices, for the same owner. Pure. */
export function likeIt(lease: Lease, to: Choice): LeaseRequest {
  const [first] = lease.devices
  return {
    devices: to.devices.map((one) => one.id),
    ...(first && !first.whole ? {memory: first.memory, compute: first.compute} : {whole: true}),
    cap: first?.cap ?? false,
    owner: lease.owner,
    purpose: lease.purpose,
  }
}

/**
 * Where each lease would go: to `to`, or to whichever other node has room. What one takes the next one does not get.
 * Pure. Throws GPU_UNAVAILABLE.
 */
export function planPlaces(
  leases: readonly Lease[],
  nodes: readonly string[],
  devices: readonly GpuDevice[],
  elsewhere: string,
): Move[] {
  let free = [...devices]
  return leases.map((lease) => {
    const to = findPlace(lease, nodes, free)
    const [first] = lease.devices
    if (!to || !first)
      throw new CliError(
        'GPU_UNAVAILABLE',
        `${elsewhere} has no room for lease ${lease.lease.slice(0, 8)} (${lease.devices.length} × ${first?.name ?? 'no device'})`,
        {hint: 'flexrack gpu list', details: {lease: lease.lease}},
      )
    const taken = new Set(to.devices.map((one) => one.id))
    free = free.map((device) =>
      device.node === to.node && taken.has(device.id)
        ? {
            ...device,
            whole: device.whole || first.whole,
            free: {memory: device.free.memory - first.memory, compute: device.free.compute - first.compute},
            holders: [...device.holders, {...first, lease: lease.lease, owner: lease.owner, purpose: lease.purpose}],
          }
        : device,
    )
    return {lease, to}
  })
}

/**
 * The devices that a lease could have on these nodes: as many, of the same model, with its share free; on one node, the
 * first that has them. Pure.
 */
export function findPlace(lease: Lease, nodes: readonly string[], devices: readonly GpuDevice[]): Choice | undefined {
  const [first] = lease.devices
  if (!first) return undefined
  for (const node of nodes) {
    if (node === lease.node) continue
    const fitting = devices.filter(
      (device) =>
        device.node === node &&
        device.name === first.name &&
        hasRoom(device, first) &&
        (!first.whole || device.memory === first.memory),
    )
    if (fitting.length >= lease.devices.length)
      return {
        node,
        devices: fitting
          .slice(0, lease.devices.length)
          .map(({id, index, name}) => ({id, index, name, memory: first.memory})),
      }
  }
  return undefined
}

/** The other daemon as this one and the programs dial it. Errors: GPU_REFUSED where the node does not reach it. */
async function targetOf(place: Place, taken: TakenLease, source: Host, context: Context): Promise<MoveTarget> {
  const {server, node} = taken
  const found = await source.call('gpu.reach', wayTo(taken, nodeOf(place, node)), {signal: context.signal})
  if (found.address === null)
    throw new CliError('GPU_REFUSED', `${source.node} does not reach the GPU daemon of ${node}`, {
      hint: `flexrack gpu serve ${node}`,
      details: {node},
    })
  const way = {address: found.address, port: server.port, unix: server.unix}
  return {...leaseServer(taken, way, undefined), grace_seconds: taken.graceSeconds}
}

function nodeOf({rack}: Place, name: string): RackNode {
  return rack.nodes.find((node) => node.name === name) as RackNode
}
