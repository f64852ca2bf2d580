import type {NodePart} from '../protocol/index.ts'
import type {Metric} from '../tracking/index.ts'
import {stateOf} from './leading.ts'
import type {FoundRun} from './types.ts'

/** What one node tells of its part of a run, and who watches adds. */
export interface SeenPart extends NodePart {
  /** By rank: what it did between two looks not long ago; absent before there were two. See recent.ts. */
  recent?: Record<string, {steps: number; seconds: number; wait: number}>
}

/**
 * How a run is, at one moment. Rates are of the newest steps, of all steps where it was looked at only once; null is
 * what nobody told.
 */
export interface RunView {
  run: string
  status: string
  attempt: number
  /** Milliseconds since 1970. */
  at: number
  /** Since its supervisors began. Milliseconds. */
  elapsed: number | null
  worldSize: number
  /** Of the slowest and the fastest rank; without counts of the ranks, the highest step of a metric. */
  step: {least: number; most: number} | null
  stepsPerSecond: number | null
  /** Of all ranks together. */
  samplesPerSecond: number | null
  tokensPerSecond: number | null
  /** Share of the ranks' time, 0 to 1. */
  dataWait: number | null
  metrics: Metric[]
  nodes: NodeLoad[]
  ranks: RankLoad[]
  /** Nodes that do not answer now. */
  lost: string[]
  /** Why the tracking server was not asked. */
  away: string | null
}

export interface RankLoad {
  rank: number
  node: string
  step: number | null
  stepsPerSecond: number | null
  samplesPerSecond: number | null
  tokensPerSecond: number | null
  dataWait: number | null
  /** The collective it waits in now. */
  waitsIn: string | null
  /** Percent of one CPU. */
  cpu: number | null
  memory: number | null
}

export interface NodeLoad {
  node: string
  status: string
  ranks: number
  step: number | null
  samplesPerSecond: number | null
  tokensPerSecond: number | null
  dataWait: number | null
  /** Percent of all CPUs. */
  cpu: number | null
  memory: number | null
  memoryTotal: number | null
  /** Bytes a second; with what went over InfiniBand or RoCE. */
  netIn: number | null
  netOut: number | null
  gpus: number
  /** Mean percent. */
  gpu: number | null
  gpuMemory: number | null
  gpuMemoryTotal: number | null
  /** Watts of all. */
  power: number | null
}

/** What is known of a run, put together. Pure. */
export function runView(
  run: FoundRun,
  {
    parts,
    lost,
    metrics,
    away,
    now,
  }: {parts: SeenPart[]; lost: string[]; metrics: Metric[]; away: string | null; now: number},
): RunView {
  const state = stateOf(run)
  const attempt = Math.max(0, ...parts.map((one) => one.attempt))
  // A node that still tells of the attempt before has nothing to say of this one.
  const current = parts.filter((one) => one.attempt === attempt)
  const ranks = current.flatMap(rankLoads).sort((a, b) => a.rank - b.rank)
  const order = new Map(state.nodes.map((node, index) => [node, index]))
  const nodes = parts
    .map((part) =>
      nodeLoad(
        part,
        ranks.filter((one) => one.node === part.node),
      ),
    )
    .sort((a, b) => (order.get(a.node) ?? 0) - (order.get(b.node) ?? 0))
  const steps = ranks.flatMap((one) => one.step ?? [])
  const logged = metrics.map((one) => one.step)
  const paces = ranks.flatMap((one) => one.stepsPerSecond ?? [])
  const leader = parts.length > 0 ? stateOf({run: run.run, nodes: parts}) : undefined
  return {
    run: run.run,
    status: leader?.status ?? state.status,
    attempt,
    at: now,
    elapsed: state.started === null ? null : now - state.started * 1000,
    worldSize: (state.slurm?.nodes ?? state.nodes.length) * state.processes,
    step:
      steps.length > 0
        ? {least: Math.min(...steps), most: Math.max(...steps)}
        : logged.length > 0
          ? {least: Math.max(...logged), most: Math.max(...logged)}
          : null,
    stepsPerSecond: paces.length > 0 ? Math.min(...paces) : null,
    samplesPerSecond: sum(ranks.map((one) => one.samplesPerSecond)),
    tokensPerSecond: sum(ranks.map((one) => one.tokensPerSecond)),
    dataWait: mean(ranks.map((one) => one.dataWait)),
    metrics,
    nodes,
    ranks,
    lost,
    away,
  }
}

function rankLoads({node, ranks, hardware, attempt, recent}: SeenPart): RankLoad[] {
  return Object.entries(ranks).map(([rank, reported]) => {
    const used = hardware?.attempt === attempt ? hardware.ranks[rank] : undefined
    const [steps, samples, tokens, median, wait, stepSeconds, , , collective] = reported ?? []
    const now = recent?.[rank]
    const pace = now && now.steps > 0 && now.seconds > 0 ? now.steps / now.seconds : median ? 1 / median : null
    const perSecond = (count: number | undefined): number | null =>
      pace === null || !count || !steps ? null : (count / steps) * pace
    return {
      rank: Number(rank),
      node,
      step: steps ? steps : null,
      stepsPerSecond: pace,
      samplesPerSecond: perSecond(samples),
      tokensPerSecond: perSecond(tokens),
      dataWait:
        wait === undefined || stepSeconds === undefined
          ? null
          : now && now.seconds > 0
            ? waitShare(now.wait, now.seconds)
            : waitShare(wait, stepSeconds),
      waitsIn: collective || null,
      cpu: used?.[0] ?? null,
      memory: used?.[1] ?? null,
    }
  })
}

function nodeLoad(part: SeenPart, ranks: RankLoad[]): NodeLoad {
  const {hardware} = part
  const gpus = Object.values(hardware?.gpus ?? {})
  const steps = ranks.flatMap((one) => one.step ?? [])
  return {
    node: part.node,
    status: part.status,
    ranks: Object.keys(part.ranks).length,
    step: steps.length > 0 ? Math.min(...steps) : null,
    samplesPerSecond: sum(ranks.map((one) => one.samplesPerSecond)),
    tokensPerSecond: sum(ranks.map((one) => one.tokensPerSecond)),
    dataWait: mean(ranks.map((one) => one.dataWait)),
    cpu: hardware?.cpu ?? null,
    memory: hardware?.memory ?? null,
    memoryTotal: part.memory_total,
    netIn: hardware ? hardware.net[0] + (hardware.rdma?.[0] ?? 0) : null,
    netOut: hardware ? hardware.net[1] + (hardware.rdma?.[1] ?? 0) : null,
    gpus: gpus.length,
    gpu: mean(gpus.map((one) => one[0])),
    gpuMemory: sum(gpus.map((one) => one[1])),
    gpuMemoryTotal: sum(Object.values(part.gpu_memory)),
    power: sum(gpus.map((one) => one[2])),
  }
}

/** Of the time of the steps; the wait for the first batch is before the first of them. Null before the second step. */
export function waitShare(waited: number, stepSeconds: number): number | null {
  return stepSeconds > 0 ? Math.min(1, waited / Math.max(stepSeconds, waited)) : null
}

/** Of those that are known; null where none is. */
export function sum(values: (number | null)[]): number | null {
  const known = values.filter((one) => one !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0)
}

export function mean(values: (number | null)[]): number | null {
  const known = values.filter((one) => one !== null)
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
}
