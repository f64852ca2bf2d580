/** How a run was, as `train` answers it; what a node keeps of that is RunResult in src/lib/protocol. */
import type {StepOutcome} from '../plan/index.ts'
import type {Cause, NodeRunDetail, Pace, SlurmState} from '../protocol/index.ts'
import type {FoundRun} from '../runs/index.ts'
import type {Metric} from '../tracking/index.ts'
import type {Made} from './made.ts'
import type {TrainKinds} from './steps/types.ts'
import type {RunSpec} from './types.ts'

/** How a run was, or how it is where it was left alone. Times in milliseconds. */
export interface Trained {
  run: string
  status: 'finished' | 'failed' | 'stopped' | 'running'
  exit: number | null
  cause: Cause | null
  nodes: string[]
  /**
   * Who committed this result, and who has the outputs: the first of the nodes, or, where that was lost, the one that
   * led the run on. Null while it goes on, and under Slurm.
   */
  leader: string | null
  worldSize: number
  attempts: number
  /** Where the time went; `recording`: outputs and logs to the tracking server. */
  times: {
    sync: number
    environment: number
    preflight: number
    start: number
    training: number
    recording: number
    total: number
  }
  /** How fast the ranks of the last attempt were; null where none told of steps. */
  pace: Pace | null
  metrics: Metric[]
  outputs: string[]
  experiment: string | null
  trackedId: string | null
  recorded: boolean | null
  /**
   * By node: pids that are alive after the end. Empty lists are the proof that nothing is left; of a node that is
   * missing here nobody knows.
   */
  left: Record<string, number[]>
  /** What Slurm says of the run's job, where it placed the run. */
  slurm: SlurmState | null
}

interface Executed {
  spec: RunSpec
  made: Made
  outcomes: StepOutcome[]
  begin: number
}

export async function describe(
  {spec, made, outcomes, begin}: Executed,
  run: FoundRun,
  {leader, details}: {leader: NodeRunDetail | undefined; details: Map<string, NodeRunDetail> | undefined},
): Promise<Trained> {
  const time = (...kinds: (keyof TrainKinds)[]): number => kinds.reduce((sum, kind) => sum + timeOf(outcomes, kind), 0)
  const result = leader?.result
  const finished = Date.now()
  const training = result ? Math.max(0, result.ended - result.started) * 1000 : 0
  const before = time('workspace.sync', 'workspace.environment')
  return {
    run: run.run,
    status: result?.status ?? 'running',
    exit: result?.exit ?? null,
    cause: result?.cause ?? null,
    nodes: spec.slurm && leader ? leader.nodes : spec.placements.map((one) => one.node.name),
    leader: spec.slurm ? null : (leader?.leader ?? null),
    worldSize: (result?.attempts.at(-1)?.nodes?.length ?? spec.worldSize / spec.processes) * spec.processes,
    attempts: result?.attempts.length ?? 1,
    times: {
      sync: time('workspace.sync'),
      environment: time('workspace.environment'),
      preflight: time('train.preflight'),
      start: time('train.track', 'train.submit', 'train.start', 'train.route'),
      training,
      recording: result ? Math.max(0, finished - result.ended * 1000) : 0,
      total: Math.max(finished - begin, before + training),
    },
    pace: result?.attempts.at(-1)?.pace ?? null,
    metrics: result ? await lastMetrics(made) : [],
    outputs: result?.outputs ?? [],
    experiment: made.record ? spec.experiment : null,
    trackedId: made.record?.runId ?? null,
    // Only the node that led knows of the whole record.
    recorded: made.record && result ? result.recorded && leader.node === leader.leader : null,
    left: Object.fromEntries(
      [...(details ?? [])].flatMap(([node, detail]) =>
        (spec.slurm && detail.nodes.length > 0 ? detail.nodes : [node]).map((name) => [name, detail.alive]),
      ),
    ),
    slurm: details === undefined ? (made.nodes[0]?.slurm ?? null) : (leader?.slurm ?? null),
  }
}

/**
 * How long the steps of each kind took, from the first one's beginning to the last one's end; 0 where there was none.
 * Milliseconds.
 */
function timeOf(outcomes: readonly StepOutcome[], kind: keyof TrainKinds): number {
  const spans = outcomes.flatMap((one) => (one.step.kind === kind && one.span ? [one.span] : []))
  return spans.length === 0 ? 0 : Math.max(...spans.map((one) => one.to)) - Math.min(...spans.map((one) => one.from))
}

async function lastMetrics({tracking, record}: Made): Promise<Metric[]> {
  if (!tracking || !record) return []
  try {
    const {metrics} = await tracking.mlflow.getRun(record.runId)
    return Object.values(metrics)
      .filter((one) => !one.key.startsWith('system/'))
      .sort((a, b) => a.key.localeCompare(b.key))
  } catch {
    return [] // the head is away; the nodes have told what matters
  }
}
