import {setTimeout as pause} from 'node:timers/promises'
import {fromEnv, fromStep} from '../../plan/index.ts'
import type {NodeRun, RunOrder} from '../../protocol/index.ts'
import type {GangReservation} from '../../reservation/index.ts'
import {isLinkTrouble} from '../../ssh/index.ts'
import type {Workspace} from '../../workspace/index.ts'
import {filledSpec} from '../env.ts'
import {launcherWord} from '../launcher.ts'
import {rangeOf} from '../place.ts'
import {specTemplate, type SshPart} from '../spec.ts'
import type {Placement, RunSpec} from '../types.ts'
import type {Done, Started, StartInput, TrainEnv, TrainStep} from './types.ts'

/** Seconds in which the members of a gang must have found each other. */
const GANG_SECONDS = 60
/** Milliseconds before each further try, where a connection was lost before the node had answered. */
const AGAIN_MS = [250, 2000]
/** Milliseconds between two questions to the leader whether the run has begun. */
const LOOK_MS = 1000

/** One for each node. The leader starts first, because the others need the port it listens on. Pure. */
export function startSteps(spec: RunSpec, workspaces: ReadonlyMap<string, Workspace>): TrainStep[] {
  return spec.placements.map((placement) => startStep(spec, placement, workspaces.get(placement.node.name)))
}

function startStep(spec: RunSpec, placement: Placement, workspace: Workspace | undefined): TrainStep {
  const {
    node: {name: node},
    index,
    ranks,
  } = placement
  const nodes = spec.placements.map((one) => one.node.name)
  const what = ranks.length > 1 ? 'ranks' : 'rank'
  const input: StartInput = {
    ranks,
    reservation: fromStep('reserve'),
    spec: specTemplate(spec, {node, index, nodes, workspace}, sshPart(spec, placement)),
  }
  return {
    id: `start:${node}`,
    node,
    kind: 'train.start',
    title:
      ranks.length === 0
        ? 'Keep it ready: it takes the place of a node that is lost'
        : `Start ${what} ${rangeOf(ranks)} of ${spec.worldSize}: ${launcherWord(spec.launcher)}${spec.command.join(' ')}`,
    input,
    needs: index === 0 ? [] : [`start:${nodes[0]}`],
  }
}

function sshPart(spec: RunSpec, {node: {name: node}, index, placed}: Placement): SshPart {
  const leader = spec.placements[0]?.node.name as string
  const isAlone = spec.placements.length === 1
  return {
    address: isAlone ? '127.0.0.1' : fromStep('route', node, 'address'),
    neighbours: isAlone ? 1 : fromStep('route', node, 'neighbours'),
    gang: {
      secret: fromEnv('secret'),
      address: isAlone ? '127.0.0.1' : fromStep('route', leader, 'address'),
      port: index === 0 ? 0 : fromStep(`start:${leader}`, 'port'),
      timeout: GANG_SECONDS,
    },
    reservation: {lease: spec.run, fence: fromStep('reserve', 'fences', node)},
    ...(placed && {
      placed: placed.map(({gpus, cpus, memory, leased: own}) => ({
        gpus: gpus.map((gpu) => gpu.uuid),
        cpus,
        memory,
        ...(own && {leased: own.map((gpu) => `GPU${gpu.index} of ${gpu.node}`)}),
      })),
    }),
    ...(placed?.some((rank) => (rank.leased ?? []).length > 0) && {leases: fromStep(`lease:${node}`, 'held')}),
  }
}

export async function start({reservation, spec}: StartInput, done: Done, env: TrainEnv): Promise<Started> {
  const order = filledSpec(spec, done, env)
  const held = done.of('train.reserve', reservation).reservation
  const {run, unheard} = await startOn(order, held, env)
  held.handOver(spec.node)
  return {run, port: run.gang?.port ?? 0, unheard}
}

/**
 * A node that has been told to start does so, whether its answer comes or not, and the whole gang may be at its end
 * before the loss of a connection is seen. It is told again then: for a run that it has, that is only a question. Where
 * it cannot be reached any more, the leader knows whether the run has begun.
 */
async function startOn(
  order: RunOrder,
  held: GangReservation,
  env: TrainEnv,
): Promise<Pick<Started, 'run' | 'unheard'>> {
  const {node} = order
  const {signal, kill} = env.context
  let isTold = false
  for (let tries = 0; ; tries++) {
    try {
      const host = await env.host(node)
      await held.ensure(node)
      isTold = true
      return {run: await host.call('run.start', order, {signal: kill}), unheard: false}
    } catch (error) {
      if (!isLinkTrouble(error) || signal.aborted) throw error
      const wait = AGAIN_MS[tries]
      const begun = wait === undefined && isTold ? await begunWithout(order, env) : undefined
      if (begun) return {run: begun, unheard: true}
      if (wait === undefined || signal.aborted) throw error
      await pause(wait, undefined, {signal}).catch(() => {})
    }
  }
}

/**
 * How the leader sees a run that has begun although one of its nodes has not answered: that node as it must be.
 * Undefined where it does not begin, or nobody knows.
 */
async function begunWithout(
  {run, node, index, nodes}: RunOrder,
  {host, context}: TrainEnv,
): Promise<NodeRun | undefined> {
  const leader = nodes[0]
  if (index === 0 || leader === undefined) return undefined
  context.reporter.warn(
    `the connection to ${node} was lost before it had answered; ${leader} is asked whether the run has begun all the same`,
  )
  for (const until = Date.now() + GANG_SECONDS * 1000; Date.now() < until && !context.signal.aborted;) {
    try {
      const state = await (await host(leader)).call('run.state', {run}, {signal: context.signal})
      if (state.attempt > 0) return {...state, node, index, committed: false, live: true, ended: null}
      if (state.result) return undefined
    } catch (error) {
      if (!isLinkTrouble(error)) return undefined
    }
    await pause(LOOK_MS, undefined, {signal: context.signal}).catch(() => {})
  }
  return undefined
}
