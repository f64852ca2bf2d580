import {randomInt} from 'node:crypto'
import {CliError} from '../base/index.ts'
import type {Manifest, TrainSpec} from '../manifest/index.ts'
import {selectNodes, type Rack, type RackNode} from '../rack/index.ts'
import type {Wants} from '../reservation/index.ts'
import type {Placement, RunSpec, TrainChoice} from './types.ts'

/**
 * Decides which ranks run where. Pure but for the random end of the run's id. Errors: NOT_FOUND (no `train:` in the manifest,
 * a selector without a node, fewer nodes than asked for), USAGE.
 */
export function placeRun(manifest: Manifest, rack: Rack, choice: TrainChoice, id: string = randomId()): RunSpec {
  const {train} = manifest
  if (!train) throw new CliError('NOT_FOUND', `${manifest.path} has no \`train:\` part`, {hint: 'add to flexrack.yaml:  train: {command: train.py}'})
  const chosen = selectNodes(rack, choice.on, rack.nodes)
  const count = choice.nodes ?? (choice.on === undefined ? train.nodes : chosen.length)
  if (count < 1) throw new CliError('USAGE', `a run needs at least one node, not ${count}`, {hint: 'flexrack train --nodes 1'})
  if (count > chosen.length) {
    const where = choice.on === undefined ? `rack ${rack.name}` : `${rack.name} under --on ${choice.on}`
    throw new CliError('NOT_FOUND', `${count} nodes are asked for, and ${where} has ${chosen.length}`, {
      hint: `flexrack train --nodes ${chosen.length}`,
      details: {nodes: chosen.map((node) => node.name)},
    })
  }
  const processes = choice.processesPerNode ?? train.processesPerNode
  if (processes < 1) throw new CliError('USAGE', `a node needs at least one process, not ${processes}`, {hint: 'flexrack train --processes-per-node 1'})
  if (train.launcher === 'plain' && processes !== 1) {
    throw new CliError('USAGE', `the launcher plain starts one process a node, not ${processes}`, {hint: 'set train.launcher to torchrun, or leave out processes_per_node'})
  }
  return {
    run: `${choice.name ?? manifest.name}-${id}`,
    project: manifest.name,
    launcher: train.launcher,
    command: [...train.command, ...choice.args],
    processes,
    worldSize: count * processes,
    restarts: train.restarts,
    grace: train.grace,
    outputs: train.outputs,
    env: {...manifest.workspace.env, ...train.env},
    placements: placeRanks(chosen.slice(0, count), processes),
    wants: wantsOf(train, choice, processes),
    experiment: manifest.tracking.experiment,
    tracked: choice.tracking,
  }
}

/** GPUs are for one run alone unless it says otherwise; cores are shared unless it says otherwise. */
function wantsOf(train: TrainSpec, choice: TrainChoice, slots: number): Wants {
  return {gpus: (choice.shareGpus ?? train.shareGpus) ? [] : 'all', slots, exclusive: choice.exclusive ?? train.exclusive ?? false}
}

/** Rank r runs on node floor(r / processes), in the order of the rack file. */
export function placeRanks(nodes: RackNode[], processes: number): Placement[] {
  return nodes.map((node, index) => ({node, index, ranks: Array.from({length: processes}, (_, local) => index * processes + local)}))
}

/** `0`, `0-3`, for people. */
export function rangeOf(ranks: number[]): string {
  return ranks.length > 1 ? `${ranks[0]}-${ranks.at(-1)}` : String(ranks[0])
}

/** Five letters of base32 without those that look alike (Crockford's alphabet). */
function randomId(): string {
  return Array.from({length: 5}, () => '0123456789abcdefghjkmnpqrstvwxyz'[randomInt(32)]).join('')
}
