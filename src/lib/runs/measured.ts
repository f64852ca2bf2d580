import type {Context} from '../base/index.ts'
import type {MeasuredPart, NodeHardware, NodeRunDetail, RankRecord} from '../protocol/index.ts'
import {hostOf, type Place} from './find.ts'
import type {FoundRun} from './types.ts'
import {mean, sum, waitShare} from './view.ts'

/** What a run did and used. Null is what nobody measured. */
export interface RunFigures {
  /** The attempt that rates are of: the newest in which a rank told something of itself. */
  attempt: number | null
  /** Of all ranks together, from the second step to the last. */
  samplesPerSecond: number | null
  tokensPerSecond: number | null
  ranks: RankFigures[]
  /** Seconds are of all ranks together; share of the time of their steps. */
  dataWait: {seconds: number; share: number} | null
  /** Of all attempts: GPUs that the run had, busy or not. */
  gpuHours: number
  /** Time of one CPU that its ranks used, all attempts. */
  cpuHours: number
  /** Mean percent while the ranks ran; of the nodes' CPUs, of the run's GPUs. */
  cpu: number | null
  gpu: number | null
  /**
   * Bytes between the nodes and elsewhere, through the run's interface. Null also of nodes that meet on loopback: what
   * passes there is everybody's on the machine.
   */
  received: number | null
  sent: number | null
}

export interface RankFigures {
  rank: number
  node: string
  steps: number
  samplesPerSecond: number | null
  tokensPerSecond: number | null
  dataWait: {seconds: number; share: number} | null
  /** Percent of one CPU. */
  cpu: number | null
  /** Most bytes at one time. */
  memory: number | null
}

/** Its name on every Linux. */
const LOOPBACK = 'lo'

/** Asks all nodes of a run what they kept. */
export async function measuredOf(place: Place, run: FoundRun, context: Context): Promise<MeasuredPart[]> {
  const answers = await Promise.all(
    run.nodes.map(async ({node}) =>
      (await hostOf(place, node, context)).call('run.measured', {run: run.run}, {signal: context.signal}),
    ),
  )
  return answers.flat().sort((a, b) => a.index - b.index)
}

/** Figures of a run. `now` in seconds since 1970, for ranks that still run. Pure. */
export function runFigures(
  measured: MeasuredPart[],
  details: Pick<NodeRunDetail, 'node' | 'records' | 'live'>[],
  now: number,
): RunFigures {
  const reported = measured.flatMap((one) =>
    Object.entries(one.attempts).flatMap(([attempt, ranks]) =>
      Object.keys(ranks).length > 0 ? [Number(attempt)] : [],
    ),
  )
  const attempt = reported.length === 0 ? null : Math.max(...reported)
  const ranks =
    attempt === null ? [] : measured.flatMap((one) => rankFigures(one, String(attempt))).sort((a, b) => a.rank - b.rank)
  const steps = attempt === null ? [] : measured.flatMap((one) => Object.values(one.attempts[String(attempt)] ?? {}))
  const waited = sum(ranks.map((one) => one.dataWait?.seconds ?? null))
  const all = measured.flatMap((one) => Object.values(one.hardware?.attempts ?? {}))
  const wires = ownWires(measured)
  const spans = attemptSpans(details, now)
  return {
    attempt,
    samplesPerSecond: sum(ranks.map((one) => one.samplesPerSecond)),
    tokensPerSecond: sum(ranks.map((one) => one.tokensPerSecond)),
    ranks,
    dataWait:
      waited === null
        ? null
        : {
            seconds: waited,
            share:
              waitShare(
                waited,
                steps.reduce((total, one) => total + one.step_seconds, 0),
              ) ?? 0,
          },
    gpuHours:
      measured.reduce((total, one) => total + (one.hardware?.gpus?.length ?? 0) * (spans.get(one.node) ?? 0), 0) / 3600,
    cpuHours: cpuSeconds(measured, details) / 3600,
    cpu: weighted(all.map((one) => [one.cpu, one.seconds])),
    gpu: weighted(all.flatMap((one) => Object.values(one.gpus).map((gpu) => [gpu.used, gpu.seconds]))),
    received: sum(wires.map((one) => one.net[0] + (one.rdma?.[0] ?? 0))),
    sent: sum(wires.map((one) => one.net[1] + (one.rdma?.[1] ?? 0))),
  }
}

/**
 * Attempts as nodes counted them whose interface is no loopback; of nodes on one machine, which all count the same
 * interface, one.
 */
function ownWires(measured: MeasuredPart[]): NodeHardware['attempts'][string][] {
  const counted = new Set<string>()
  return measured.flatMap(({node, hardware}) => {
    const wire = `${hardware?.machine ?? node} ${hardware?.interface ?? ''}`
    if (!hardware || hardware.interface === LOOPBACK || counted.has(wire)) return []
    counted.add(wire)
    return Object.values(hardware.attempts)
  })
}

/** Steps after the first: what comes before it (compilation, caches, the first batch) is no throughput. */
function rankFigures({node, attempts, hardware}: MeasuredPart, attempt: string): RankFigures[] {
  return Object.entries(attempts[attempt] ?? {}).map(([rank, {steps, samples, tokens, step_seconds, data_wait}]) => {
    const share = waitShare(data_wait, step_seconds)
    const perSecond = (counted: number): number | null =>
      counted === 0 || steps < 2 || step_seconds <= 0 ? null : (counted * (steps - 1)) / steps / step_seconds
    const used = hardware?.attempts[attempt]?.ranks[rank]
    return {
      rank: Number(rank),
      node,
      steps,
      samplesPerSecond: perSecond(samples),
      tokensPerSecond: perSecond(tokens),
      dataWait: share === null ? null : {seconds: data_wait, share},
      cpu: used?.cpu ?? null,
      memory: used?.peak ?? null,
    }
  })
}

/** By node: seconds in which ranks of it were there, all attempts. */
function attemptSpans(details: Pick<NodeRunDetail, 'node' | 'records' | 'live'>[], now: number): Map<string, number> {
  const spans = new Map<string, number>()
  for (const detail of details) {
    for (const records of Object.values(detail.records)) {
      const byNode = Map.groupBy(Object.values(records), (one) => one.node)
      for (const [node, own] of byNode)
        spans.set(node, (spans.get(node) ?? 0) + spanOf(own, detail.live ? now : undefined))
    }
  }
  return spans
}

function spanOf(records: RankRecord[], now: number | undefined): number {
  const begin = Math.min(...records.map((one) => one.started))
  return Math.max(0, Math.max(...records.map((one) => one.ended ?? now ?? one.started)) - begin)
}

/** What a rank's record says, which is exact; else the mean of what was seen while it ran. */
function cpuSeconds(measured: MeasuredPart[], details: Pick<NodeRunDetail, 'records'>[]): number {
  const records = details.flatMap((one) =>
    Object.entries(one.records).flatMap(([attempt, ranks]) =>
      Object.values(ranks).map((record) => ({attempt, record})),
    ),
  )
  return records.reduce((total, {attempt, record}) => {
    const seen = measured.find((one) => one.node === record.node)?.hardware?.attempts[attempt]?.ranks[
      String(record.rank)
    ]
    return total + (record.cpu ?? ((seen?.cpu ?? 0) / 100) * (seen?.seconds ?? 0))
  }, 0)
}

function weighted(values: [value: number | null, weight: number][]): number | null {
  const known = values.filter(([value, weight]) => value !== null && weight > 0)
  const weight = known.reduce((total, [, one]) => total + one, 0)
  return weight === 0
    ? mean(known.map(([value]) => value))
    : known.reduce((total, [value, one]) => total + (value ?? 0) * one, 0) / weight
}
