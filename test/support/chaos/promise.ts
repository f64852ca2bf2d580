import type {Phase, Scenario, Victim} from './scenario.ts'

/** How a run may be afterwards. absent: no node has it, because it was never started. */
export type End = 'absent' | 'finished' | 'failed' | 'stopped'

/** What is promised to who starts a run and something of it is killed. */
export interface Promised {
  ends: End[]
  /**
   * The run must be over, and all of it gone, so many seconds after the blow, or after what was a machine has come
   * back.
   */
  seconds: number
}

const NOT_BEGUN: End[] = ['absent', 'failed', 'stopped', 'finished']
/** A process of ours that a node needs: nothing can be started again without it, whatever the restarts. */
const FATAL: Record<Phase, End[]> = {
  before: ['finished'], // there is none yet: the blow hits nothing
  start: ['absent', 'failed', 'stopped', 'finished'],
  running: ['failed'],
  stopping: ['stopped', 'failed'],
  recording: ['finished', 'failed'],
}
const HARMLESS: Record<Phase, End[]> = {
  before: ['finished'],
  start: ['finished'],
  running: ['finished'],
  stopping: ['stopped'],
  recording: ['finished'],
}

/** Seconds: a gang whose command died in between waits 60 for its members; a lost link is believed after 12 + 30. */
const GANG = 75
const LINK = 60
const SOON = 30

/** The promise to one blow that has hit something; `node`: where. */
const PROMISES: Record<Victim, (phase: Phase, scenario: Scenario, node: number) => Promised> = {
  // The run does not need it once it is started on all nodes; before that what was started ends by itself.
  command: (phase) => ({
    ends: {
      before: NOT_BEGUN,
      start: ['finished', 'failed'] as End[],
      running: ['finished'] as End[],
      stopping: ['stopped', 'finished'] as End[],
      recording: ['finished'] as End[],
    }[phase],
    seconds: phase === 'before' || phase === 'start' ? GANG : SOON,
  }),
  supervisor: (phase, scenario, node) => ({ends: withoutNode(phase, scenario, node), seconds: LINK}),
  reaper: (phase) => ({ends: HARMLESS[phase], seconds: SOON}),
  launcher: ofRank,
  wrapper: ofRank,
  rank: ofRank,
  worker: ofWorker,
  sshd: ofSsh,
  sessions: ofSsh,
  node: (phase, scenario, node) => ({
    ends: phase === 'before' ? NOT_BEGUN : withoutNode(phase, scenario, node),
    seconds: GANG + LINK,
  }),
  // A link that comes back in time is no loss.
  link: (phase, scenario, node) => ({
    ends:
      phase === 'before'
        ? NOT_BEGUN
        : scenario.back !== null
          ? [...new Set([...HARMLESS[phase], ...(phase === 'start' ? NOT_BEGUN : [])])]
          : withoutNode(phase, scenario, node),
    seconds: GANG + LINK,
  }),
}

/**
 * A run goes on without a node where a spare can take its place, and without a spare; two others are enough to choose
 * another leader.
 */
function withoutNode(phase: Phase, {nodes, spares}: Scenario, node: number): End[] {
  const isActive = node < nodes - spares
  return phase === 'running' && (!isActive || spares > 0) ? ['finished'] : FATAL[phase]
}

/** A rank, or what it cannot do without: the attempt fails, and another one is made where restarts are left. */
function ofRank(phase: Phase, {restarts}: Scenario): Promised {
  const lost: End = restarts > 0 ? 'finished' : 'failed'
  return {
    ends: {
      before: ['finished'] as End[],
      start: [lost],
      running: [lost],
      stopping: ['stopped', 'failed'] as End[],
      recording: ['finished', 'failed'] as End[],
    }[phase],
    seconds: SOON,
  }
}

/** A worker that stands still may be outlived by its rank, which needs no more of it and ends it. */
function ofWorker(phase: Phase, scenario: Scenario): Promised {
  const {ends, seconds} = ofRank(phase, scenario)
  const isFrozen = scenario.blows.some((one) => one.victim === 'worker' && one.frozen > 0)
  return {
    ends:
      isFrozen && !ends.includes('finished') && (phase === 'start' || phase === 'running')
        ? [...ends, 'finished']
        : ends,
    seconds,
  }
}

/** Connections are made again; only a start that cannot reach its nodes is given up. */
function ofSsh(phase: Phase): Promised {
  return {
    ends: phase === 'before' || phase === 'start' ? NOT_BEGUN : HARMLESS[phase],
    seconds: phase === 'before' || phase === 'start' ? GANG : SOON,
  }
}

/**
 * What may have become of the run. `hit`: which blows found something to kill; one that came too late, or too early, is
 * none. Two at once: each of their ends, and failed. Pure.
 */
export function promiseOf(scenario: Scenario, hit: boolean[]): Promised {
  const each = scenario.blows
    .filter((_, index) => hit[index])
    .map(({victim, node}) => PROMISES[victim](scenario.phase, scenario, node))
  if (each.length === 0) return {ends: HARMLESS[scenario.phase], seconds: SOON}
  const ends = each.flatMap((one) => one.ends)
  return {
    ends: [...new Set(each.length > 1 ? [...ends, ...bothAtOnce(scenario.phase)] : ends)],
    seconds: Math.max(...each.map((one) => one.seconds)),
  }
}

function bothAtOnce(phase: Phase): End[] {
  return phase === 'before' || phase === 'start' ? NOT_BEGUN : ['failed']
}

/** Exit statuses of `train` that agree with how the run is; `signal`: it was killed. */
export function exitsOf(end: End): number[] {
  if (end === 'finished') return [0]
  if (end === 'absent') return [4, 5, 6, 8, 9, 130]
  // Where no node could be asked after Ctrl-C, or a start was given up, that is the error.
  return end === 'stopped' ? [130, 5, 6, 8] : [6, 5, 8, 130]
}

/** What is seen afterwards, as far as it is judged. */
export interface Seen {
  run: string | undefined
  hit: boolean[]
  late: boolean
  command: {status: number | null; signal: string | null; output: string; hasEnded: boolean}
  shown:
    | {
        status: string
        cause: {node: string; rank: number | null; message: string | null} | null
        ranks: {attempt?: number; rank: number; node: string; exit?: number}[]
        attempts: unknown[]
      }
    | undefined
  /** Marks of ranks that went to their last step: `done-ATTEMPT-RANK`. */
  done: string[]
  left: string[]
  /** What the tracking server says, where the run is tracked; undefined: it has no record. */
  record: {status: string} | undefined
}

const RECORDED: Record<Exclude<End, 'absent'>, string> = {finished: 'FINISHED', failed: 'FAILED', stopped: 'KILLED'}
const OF_RANK: Victim[] = ['rank', 'worker']

/** Every promise that was not kept, a sentence each. Pure. */
export function broken(scenario: Scenario, seen: Seen, nodes: string[], worldSize: number): string[] {
  const found: string[] = []
  const promised = promiseOf(scenario, seen.hit)
  const ends = seen.late
    ? [...promised.ends, ...promiseOf({...scenario, phase: 'recording'}, seen.hit).ends]
    : promised.ends
  const end = (seen.shown?.status ?? 'absent') as End
  const isKilled = seen.command.signal === 'SIGKILL' && seen.command.hasEnded
  if (!seen.command.hasEnded) found.push('the command does not end')
  if (seen.left.length > 0) found.push(`left: ${seen.left.join('; ')}`)
  if (!ends.includes(end)) found.push(`it is ${end}, promised is ${ends.join(' or ')}`)
  if (seen.command.hasEnded && !isKilled) found.push(...commandLies(seen, end, scenario))
  if (end === 'finished') found.push(...notFinished(seen, worldSize))
  if (end === 'failed' && !seen.shown?.cause) found.push('it failed, and no cause is told')
  if (end === 'failed' && seen.shown?.cause && !nodes.includes(seen.shown.cause.node))
    found.push(`the cause is on ${seen.shown.cause.node}, which is none of its nodes`)
  const [only] = scenario.blows
  if (
    end === 'failed' &&
    scenario.phase === 'running' &&
    !seen.late &&
    scenario.blows.length === 1 &&
    only &&
    OF_RANK.includes(only.victim) &&
    seen.hit[0]
  ) {
    const {cause} = seen.shown as NonNullable<Seen['shown']>
    if (cause?.node !== nodes[only.node] || cause?.rank === null)
      found.push(`the cause is told as ${JSON.stringify(cause)}, and it was a rank on ${nodes[only.node]}`)
  }
  if (scenario.tracked && end !== 'absent' && seen.record?.status !== RECORDED[end])
    found.push(`it is ${end}, and recorded as ${seen.record?.status ?? 'nothing'}`)
  // Of a run that never began, nobody is left to say so but the next command that looks, ten minutes later.
  if (scenario.tracked && end === 'absent' && !isKilled && seen.record?.status === 'RUNNING')
    found.push('it was never started, and is recorded as RUNNING')
  return found
}

function commandLies({command, run, hit}: Seen, end: End, {blows, phase, spares}: Scenario): string[] {
  const found: string[] = []
  // Without the node that led it, and where no other can, the command can only say that it does not know.
  const isHeadless =
    (spares === 0 || phase !== 'running') &&
    blows.some(({victim, node}, index) => hit[index] && node === 0 && (victim === 'node' || victim === 'link'))
  const reported = `the command ended with ${command.status ?? command.signal}`
  if (!exitsOf(end).includes(command.status ?? -1) && !(isHeadless && command.status === 5))
    found.push(`it is ${end}, and ${reported}`)
  if (run && end === 'failed' && command.status === 6 && !command.output.includes(run))
    found.push(`${reported} without naming ${run}`)
  return found
}

function notFinished({shown, done}: Seen, worldSize: number): string[] {
  const last = shown?.attempts.length ?? 0
  const marks = done.filter((mark) => mark.startsWith(`done-${last}-`)).length
  const good = shown?.ranks.filter((one) => (one.attempt ?? last) === last && one.exit === 0).length
  return marks === worldSize && good === worldSize
    ? []
    : [
        `it is finished, with ${marks} of ${worldSize} ranks at their end and ${good} that ended with 0, in attempt ${last}`,
      ]
}
