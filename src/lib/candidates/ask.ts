import {isCliError, throwIfInterrupted, CliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {Candidate, Held} from '../placement/index.ts'
import type {NodeFacts, NodeReservations} from '../protocol/index.ts'
import type {RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {readTopology} from '../topology/index.ts'

/**
 * Milliseconds for one node's connection and answers, and seconds for one part of its facts: nvidia-smi takes some
 * where nothing keeps the driver loaded.
 */
const PATIENCE_MS = 20_000
const PART_SECONDS = 10

/**
 * From this share of its memory free a GPU is fit for a run, and so much a driver or a display server may take: as the
 * preflight has it.
 */
const GOOD_SHARE = 0.5
const IDLE_BYTES = 1024 ** 3

export interface AskOptions {
  /** Why nodes of the rack are out of the question, by name: they are not asked. */
  left: ReadonlyMap<string, string>
  /** Without them it does not matter how GPUs are. */
  needsGpus: boolean
  /** Take GPUs whose memory other programs use. */
  anyMemory: boolean
}

/**
 * Asks all nodes at once what they are and who has what on them. One that does not answer in time is a candidate with a
 * problem. Errors: INTERRUPTED.
 */
export async function askCandidates(
  nodes: RackNode[],
  fleet: Fleet,
  {left, ...options}: AskOptions,
  context: Context,
): Promise<Candidate[]> {
  const requested = nodes.filter((node) => !left.has(node.name))
  const progress = context.reporter.begin(
    `Looking at ${requested.length} node${requested.length === 1 ? '' : 's'} to place what is to run`,
  )
  let finished = 0
  const candidates = await Promise.all(
    nodes.map(async (node): Promise<Candidate> => {
      const why = left.get(node.name)
      if (why !== undefined) return without(node.name, why)
      try {
        return await within(ask(node, requested, fleet, options, context), PATIENCE_MS)
      } catch (error) {
        if (!isCliError(error)) throw error
        return without(node.name, `it cannot be asked: ${error.message}`)
      } finally {
        progress.amount(++finished, nodes.length, 'nodes')
      }
    }),
  )
  progress.done()
  throwIfInterrupted(context.signal)
  return candidates
}

function without(node: string, problem: string): Candidate {
  return {node, problem, topology: null, allowed: null, routes: {}, held: [], busy: {}}
}

async function ask(
  node: RackNode,
  requested: RackNode[],
  fleet: Fleet,
  options: Omit<AskOptions, 'left'>,
  context: Context,
): Promise<Candidate> {
  const host = await openHost(fleet, node, context)
  const peers = Object.fromEntries(
    requested.filter((peer) => peer !== node).map((peer) => [peer.name, peer.address ?? peer.host]),
  )
  const [facts, reservations] = await Promise.all([
    host.call('node.facts', {peers, seconds: PART_SECONDS}, {signal: context.signal}),
    host.call('reservation.list', null, {signal: context.signal}),
  ])
  return candidateOf(node.name, facts, reservations, options)
}

/** What placement needs of a node's facts and reservations. Pure. */
export function candidateOf(
  node: string,
  facts: NodeFacts,
  {reservations}: NodeReservations,
  {needsGpus, anyMemory}: Omit<AskOptions, 'left'>,
): Candidate {
  const reported = needsGpus ? facts.missing.gpus : undefined
  return {
    node,
    problem: reported === undefined ? null : `its GPUs do not answer: ${reported}`,
    topology: readTopology(facts),
    allowed: facts.cpu?.allowed ?? null,
    routes: Object.fromEntries(
      Object.entries(facts.routes ?? {}).flatMap(([peer, route]) => (route.interface ? [[peer, route.interface]] : [])),
    ),
    held: reservations.map((one): Held => ({
      lease: one.lease,
      by: `${one.lease} of ${one.owner}${one.state === 'waiting' ? ' (in line)' : ''}`,
      gpus: one.wants.gpus,
      exclusive: one.wants.exclusive,
      here: one.here,
    })),
    busy: busyGpus(facts, anyMemory),
    ...(facts.gpu_daemon && {shared: facts.gpu_daemon.devices}),
    ...(facts.memory && {memory: facts.memory.available}),
  }
}

/**
 * Why GPUs are not to be had although no run has reserved them: shares of the GPU daemon, and programs that flexrack
 * knows nothing of.
 */
function busyGpus({gpus = [], gpu_daemon: daemon}: NodeFacts, anyMemory: boolean): Record<string, string> {
  const leased = new Set(
    (daemon?.devices ?? [])
      .filter((one) => one.whole || one.free.memory < one.memory || one.free.compute < 1)
      .map((one) => one.id),
  )
  return Object.fromEntries(
    gpus.flatMap(({uuid, memory, free}) => {
      if (leased.has(uuid)) return [[uuid, 'leased by the GPU daemon']]
      const used = memory === null || free === undefined || free === null ? 0 : memory - free
      if (anyMemory || memory === null || used <= IDLE_BYTES || (free ?? 0) >= memory * GOOD_SHARE) return []
      return [
        [uuid, `used by other programs (${Math.round(used / IDLE_BYTES)} of ${Math.round(memory / IDLE_BYTES)} GiB)`],
      ]
    }),
  )
}

async function within<T>(answer: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new CliError('TIMED_OUT', `no answer within ${milliseconds / 1000} s`)),
      milliseconds,
    )
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
