import {throwIfInterrupted, type Context} from '../base/index.ts'
import {chosenChecks, type CheckName} from './checks.ts'
import {judgeNode, type Demand} from './judge-node.ts'
import {judgePairs} from './judge-pairs.ts'
import {judgeTogether} from './judge-together.ts'
import {measureNodes} from './measure.ts'
import type {Measured, PreflightFinding, PreflightNode, PreflightResult} from './types.ts'

export interface PreflightInput {
  nodes: PreflightNode[]
  skip: readonly CheckName[]
  /** Ranks a node. */
  processes: number
  /** UUIDs of the GPUs that the run uses, by node; without it: all. */
  gpus?: ReadonlyMap<string, readonly string[]>
  /** Ranks are started by Open MPI. */
  mpi?: boolean
  /** Name of the project whose environment is looked at. */
  project?: string
  /** See MeasureInput. */
  onOneMachine?: boolean
}

/**
 * Measures the nodes and the ways between them, and says what it means for a run. Throws only INTERRUPTED: what it
 * finds is in the result.
 */
export async function runPreflight(
  {skip, processes, gpus, ...input}: PreflightInput,
  context: Context,
): Promise<PreflightResult> {
  const checks = chosenChecks(skip, input.nodes.length)
  const measured: Measured =
    checks.length > 0
      ? await measureNodes({...input, checks}, context)
      : {
          nodes: [],
          ways: [],
          rates: [],
          pairs: {possible: 0, measured: 0},
          times: {open: 0, reach: 0, bandwidth: 0, facts: 0, total: 0},
        }
  throwIfInterrupted(context.signal)
  const findings = judge(measured, checks, {processes, ...(input.mpi && {mpi: true}), ...(gpus && {gpus})})
  return {
    ok: findings.every((finding) => finding.severity !== 'error'),
    nodes: input.nodes.map((one) => one.host.node),
    checks,
    skipped: [...skip],
    findings,
    ways: measured.ways,
    rates: measured.rates,
    pairs: measured.pairs,
    times: measured.times,
  }
}

/** Measured values to findings, errors first. Pure. */
export function judge(measured: Measured, checks: readonly CheckName[], demand: Demand): PreflightFinding[] {
  const findings = [
    ...measured.nodes.flatMap((node) => judgeNode(node, checks, demand)),
    ...judgeTogether(measured.nodes, checks),
    ...judgePairs(measured, checks),
  ]
  return [
    ...findings.filter((one) => one.severity === 'error'),
    ...findings.filter((one) => one.severity === 'warning'),
  ]
}
