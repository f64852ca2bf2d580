import {setTimeout as pause} from 'node:timers/promises'
import {fromEnv, fromStep} from '../../plan/index.ts'
import type {NodeRun, RunOrder} from '../../protocol/index.ts'
import {isLinkTrouble} from '../../ssh/index.ts'
import type {Workspace} from '../../workspace/index.ts'
import {filledSpec} from '../env.ts'
import {launcherWord} from '../mpi.ts'
import {rangeOf} from '../place.ts'
import {specTemplate, type SshPart} from '../spec.ts'
import type {Placement, RunSpec} from '../types.ts'
import type {Done, Started, StartInput, TrainEnv, TrainStep} from './types.ts'

/** Seconds in which the members of a gang must have found each other. */
const GANG_SECONDS = 60
/** Milliseconds before each further try, where a connection was lost before the node had answered. */
const AGAIN_MS = [250, 2000]

/** One for each node. The leader starts first, because the others need the port it listens on. Pure. */
export function startSteps(spec: RunSpec, workspaces: ReadonlyMap<string, Workspace>): TrainStep[] {
  return spec.placements.map((placement) => startStep(spec, placement, workspaces.get(placement.node.name)))
}

function startStep(spec: RunSpec, placement: Placement, workspace: Workspace | undefined): TrainStep {
  const {node: {name: node}, index, ranks} = placement
  const nodes = spec.placements.map((one) => one.node.name)
  const what = ranks.length > 1 ? 'ranks' : 'rank'
  const input: StartInput = {ranks, reservation: fromStep('reserve'), spec: specTemplate(spec, {node, index, nodes, workspace}, sshPart(spec, placement))}
  return {
    id: `start:${node}`,
    node,
    kind: 'train.start',
    title: ranks.length === 0 ? 'Keep it ready: it takes the place of a node that is lost' : `Start ${what} ${rangeOf(ranks)} of ${spec.worldSize}: ${launcherWord(spec.launcher)}${spec.command.join(' ')}`,
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
    gang: {secret: fromEnv('secret'), address: isAlone ? '127.0.0.1' : fromStep('route', leader, 'address'), port: index === 0 ? 0 : fromStep(`start:${leader}`, 'port'), timeout: GANG_SECONDS},
    reservation: {lease: spec.run, fence: fromStep('reserve', 'fences', node)},
    ...(placed && {placed: placed.map(({gpus, cpus, memory, leased: own}) => ({gpus: gpus.map((gpu) => gpu.uuid), cpus, memory, ...(own && {leased: own.map((gpu) => `GPU${gpu.index} of ${gpu.node}`)})}))}),
    ...(placed?.some((rank) => (rank.leased ?? []).length > 0) && {leases: fromStep(`lease:${node}`, 'held')}),
  }
}

export async function start({reservation, spec}: StartInput, done: Done, env: TrainEnv): Promise<Started> {
  const run = await startOn(spec.node, filledSpec(spec, done, env), env)
  done.of('train.reserve', reservation).reservation.handOver(spec.node)
  return {run, port: run.gang?.port ?? 0}
}

/**
 * A node that has been told to start does so, whether its answer comes or not, and the whole gang may be at its end before the loss of a connection is seen.
 * It is told again then: for a run that it has, that is only a question.
 */
async function startOn(node: string, order: RunOrder, {host, context}: TrainEnv): Promise<NodeRun> {
  for (let tries = 0; ; tries++) {
    try {
      return await (await host(node)).call('run.start', order, {signal: context.kill})
    } catch (error) {
      const wait = AGAIN_MS[tries]
      if (!isLinkTrouble(error) || wait === undefined || context.signal.aborted) throw error
      await pause(wait, undefined, {signal: context.signal}).catch(() => {})
    }
  }
}
