/**
 * What is killed: one of a run's processes, a node's sshd (its listener, or its sessions), a whole node, or its link
 * alone.
 */
export const VICTIMS = [
  'command',
  'supervisor',
  'reaper',
  'launcher',
  'wrapper',
  'rank',
  'worker',
  'sshd',
  'sessions',
  'node',
  'link',
] as const
export type Victim = (typeof VICTIMS)[number]
/**
 * When: before anything of the run is on a node; from then until all ranks are up; while they train; after Ctrl-C;
 * after their end.
 */
export const PHASES = ['before', 'start', 'running', 'stopping', 'recording'] as const
export type Phase = (typeof PHASES)[number]

export interface Blow {
  victim: Victim
  /** Index of the node that is hit; the leader is 0. Meaningless for the command. */
  node: number
  /** Milliseconds of SIGSTOP before the SIGKILL; 0: SIGKILL at once. */
  frozen: number
}

/** One run and what happens to it. Everything follows from the seed. */
export interface Scenario {
  seed: number
  nodes: number
  /** Of them, so many stand by: the last ones. */
  spares: number
  launcher: 'plain' | 'torchrun'
  restarts: number
  tracked: boolean
  /** The ranks' workers ignore SIGTERM and have a session of their own; the ranks ignore SIGTERM, too. */
  deaf: boolean
  phase: Phase
  /** Milliseconds from the beginning of the phase to the blow. */
  delay: number
  /** One, or two at the same moment. */
  blows: Blow[]
  /**
   * What was a machine comes back (rebooted, or its link up) after so many milliseconds; null: only after the command
   * has ended.
   */
  back: number | null
}

export interface ScenarioChoice {
  nodes: number
  /** Share of the runs under torchrun, and of those that are tracked. */
  torchrun: number
  tracked: number
}

/** Before the run is anywhere there is nothing else to be hit, and after its ranks have ended no rank. */
const EARLY: readonly Victim[] = ['command', 'sshd', 'sessions', 'node', 'link']
const LATE: readonly Victim[] = [...EARLY, 'supervisor', 'reaper']
const MEANT: Record<Phase, readonly Victim[]> = {
  before: EARLY,
  start: VICTIMS,
  running: VICTIMS,
  stopping: VICTIMS,
  recording: LATE,
}
/** Milliseconds over which the blows of a phase are spread. */
const PHASE_MS: Record<Phase, number> = {before: 2500, start: 600, running: 2500, stopping: 900, recording: 400}

/** The scenario of a seed. Pure. */
export function scenarioOf(seed: number, choice: ScenarioChoice): Scenario {
  const random = generator(seed)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const phase = pick(PHASES)
  const blow = (): Blow => ({
    victim: pick(MEANT[phase]),
    node: Math.floor(random() * choice.nodes),
    frozen: random() < 0.2 ? Math.floor(200 + random() * 2800) : 0,
  })
  const blows = random() < 0.2 ? [blow(), blow()] : [blow()]
  return {
    seed,
    nodes: choice.nodes,
    spares: random() < 0.5 ? 1 : 0,
    launcher: random() < choice.torchrun ? 'torchrun' : 'plain',
    restarts: random() < 0.3 ? 1 : 0,
    tracked: random() < choice.tracked,
    deaf: random() < 0.3,
    phase,
    delay: Math.floor(random() * PHASE_MS[phase]),
    blows,
    back: random() < 0.6 ? Math.floor(500 + random() * 4000) : null,
  }
}

/** One line to be read by people. */
export function tell({seed, phase, delay, blows, launcher, restarts, spares, tracked, deaf, back}: Scenario): string {
  const what = blows
    .map(
      ({victim, node, frozen}) =>
        `${victim}${victim === 'command' ? '' : ` of node-${node + 1}`}${frozen > 0 ? ` (frozen for ${frozen} ms before)` : ''}`,
    )
    .join(' and ')
  const machines = blows.some(({victim}) => ['node', 'link', 'sshd'].includes(victim))
    ? `, back ${back === null ? 'after the command' : `after ${back} ms`}`
    : ''
  return `seed ${seed}: ${what}, ${phase} + ${delay} ms${machines}; ${launcher}, ${restarts} restarts${spares > 0 ? ', a spare' : ''}${tracked ? ', tracked' : ''}${deaf ? ', deaf' : ''}`
}

/** mulberry32: small, seeded, good enough to choose. */
export function generator(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
