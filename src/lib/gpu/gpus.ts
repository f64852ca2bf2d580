import {CliError, type Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import {throwIfAnyFailed, type NodeReport} from '../nodes/index.ts'
import type {Plan} from '../plan/index.ts'
import type {Withdrawn} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import type {BackendWish} from './backend.ts'
import {benchGpus, planBench, type BenchedGpu, type BenchInput} from './bench.ts'
import {moveAll, movePlan, planPlaces, type Move, type MovedLease} from './move.ts'
import {planServe, serveGpus, type Served} from './serve.ts'
import {readGpuNodes} from './state.ts'
import {releaseFound, releasePlan} from './release.ts'
import {planStop, stopGpus} from './stop.ts'
import type {GpuDevice, GpuNode, Lease} from './types.ts'

/** What a rack has and who has it. */
export interface GpuReport {
  rack: string
  nodes: GpuNodeReport[]
  devices: GpuDevice[]
  leases: Lease[]
}

/** A node's daemon; where it could not be asked, `code` and `message` say why. */
export interface GpuNodeReport extends Omit<GpuNode, 'state' | 'devices' | 'leases'> {
  state: GpuNode['state'] | 'failed'
  code?: string
  message?: string
  hint?: string
}

/** The GPUs of a rack. */
export interface Gpus {
  /** Asks all these nodes; one that is away is part of the answer. */
  read(nodes: RackNode[]): Promise<GpuReport>
  /** What `serve` would do now; throws for a node that cannot be reached. */
  planServe(nodes: RackNode[], wish: BackendWish): Promise<Plan>
  /** Has these nodes serve their GPUs; run again it changes nothing. */
  serve(nodes: RackNode[], wish: BackendWish): Promise<Served[]>
  /** What `stop` would do now; throws for a node that cannot be asked. */
  planStop(nodes: RackNode[], force: boolean): Promise<Plan>
  /** Takes the daemons away. CONFLICT while leases are there, unless forced. */
  stop(nodes: RackNode[], force: boolean): Promise<NodeReport<Withdrawn>[]>
  /** What `bench` would lease now. Errors: as planAttach. */
  planBench(input: BenchInput): Promise<Plan>
  /**
   * Leases devices, measures them and the links to them one after the other, and gives them back. Errors: as
   * attachGpus, and GPU_FAILED.
   */
  bench(input: BenchInput): Promise<BenchedGpu[]>
  /** Leases by their ids or the beginnings of them. Errors: NOT_FOUND, USAGE where a beginning means several. */
  find(ids: string[]): Promise<Lease[]>
  /** What `release` would do. Pure. */
  planRelease(leases: Lease[]): Plan
  /** All leases of these nodes; throws for a node that cannot be asked. */
  leasesOn(nodes: RackNode[]): Promise<Lease[]>
  /** Where each lease would go: to that node, or to any other one. Errors: CONFLICT, GPU_UNAVAILABLE. */
  findMoves(leases: Lease[], to: RackNode | undefined): Promise<Move[]>
  /** What `move` would do. Pure. */
  planMove(command: string, moves: Move[], restSeconds: number): Plan
  /** Has their programs go on there. Errors: GPU_REFUSED with the reason where one stays. */
  move(command: string, moves: Move[], restSeconds: number): Promise<MovedLease[]>
  /** Ends leases: programs that use them get errors from now on. */
  release(leases: Lease[]): Promise<Lease[]>
}

export function openGpus(place: {rack: Rack; fleet: Fleet}, context: Context): Gpus {
  const {rack, fleet} = place
  const nodeOf = (name: string): RackNode => rack.nodes.find((node) => node.name === name) as RackNode
  const read = async (nodes: RackNode[]): Promise<GpuReport> => {
    const reports = await readGpuNodes(nodes, fleet, context)
    return {
      rack: rack.name,
      nodes: reports.map(nodeReport),
      devices: reports.flatMap(({value}) => value?.devices ?? []),
      leases: reports.flatMap(({value}) => value?.leases ?? []),
    }
  }
  return {
    read,
    planServe: async (nodes, wish) => {
      const {plan, failed} = await planServe(place, nodes, wish, context)
      throwIfAnyFailed(
        nodes.map(({name}) => {
          const error = failed.get(name)
          return error instanceof CliError
            ? {
                node: name,
                ok: false,
                code: error.code,
                message: error.message,
                ...(error.hint !== undefined && {hint: error.hint}),
              }
            : {node: name, ok: true}
        }),
      )
      return plan
    },
    serve: (nodes, wish) => serveGpus(place, nodes, wish, context),
    planStop: async (nodes, force) => {
      const {plan, failed} = await planStop(nodes, fleet, force, context)
      throwIfAnyFailed([...failed, ...plan.steps.map((step) => ({node: step.node as string, ok: true}))])
      return plan
    },
    stop: (nodes, force) => stopGpus(nodes, fleet, force, context),
    planBench: (input) => planBench(place, input, context),
    bench: (input) => benchGpus(place, input, context),
    find: async (ids) => {
      const {leases, nodes} = await read(rack.nodes)
      return ids.map((id) => findLease(id, leases, nodes))
    },
    leasesOn: async (nodes) => {
      const reports = await readGpuNodes(nodes, fleet, context)
      throwIfAnyFailed(reports)
      return reports.flatMap(({value}) => value?.leases ?? [])
    },
    findMoves: async (leases, to) => {
      const same = leases.find((one) => one.node === to?.name)
      if (same)
        throw new CliError('CONFLICT', `lease ${same.lease.slice(0, 8)} is on ${same.node} already`, {
          hint: 'flexrack gpu leases',
        })
      const nodes = to ? [to] : rack.nodes
      const {devices} = await read(nodes)
      const names = nodes.map((node) => node.name)
      return planPlaces(leases, names, devices, to ? to.name : 'no other node')
    },
    planMove: movePlan,
    move: (command, moves, restSeconds) => moveAll(movePlan(command, moves, restSeconds), {rack, fleet, context}),
    planRelease: releasePlan,
    release: (leases) => releaseFound(leases, {host: (node) => openHost(fleet, nodeOf(node), context), context}),
  }
}

function nodeReport(report: NodeReport<GpuNode>): GpuNodeReport {
  if (report.value) {
    const {devices: _devices, leases: _leases, ...node} = report.value
    return node
  }
  const {node, code, message, hint} = report
  return {
    node,
    state: 'failed',
    version: null,
    backend: null,
    address: null,
    port: null,
    refused: {},
    ...(code && {code}),
    ...(message && {message}),
    ...(hint && {hint}),
  }
}

function findLease(id: string, leases: Lease[], nodes: GpuNodeReport[]): Lease {
  const found = leases.filter((one) => one.lease.startsWith(id.toLowerCase()))
  const [only] = found
  if (only && found.length === 1) return only
  const away = nodes.filter((node) => node.state === 'failed').map((node) => node.node)
  if (found.length > 1)
    throw new CliError('USAGE', `${id} is the beginning of ${found.length} leases`, {
      hint: 'give more of it',
      details: {leases: found.map((one) => one.lease)},
    })
  throw new CliError(
    'NOT_FOUND',
    `there is no lease ${id}${away.length > 0 ? ` on the nodes that answer (${away.join(', ')} did not)` : ''}`,
    {hint: 'flexrack gpu leases'},
  )
}
