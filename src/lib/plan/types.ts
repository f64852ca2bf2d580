/** One thing to do, as data: prints, saves, diffs and tests with toEqual. */
export interface Step {
  /** Unique in the plan, readable: `sync:node-1`. */
  id: string
  /** Name of the node it happens on, or null for this machine. */
  node: string | null
  /** Handlers are looked up by kind. */
  kind: string
  /** For people: `Sync code (3 files changed)`. */
  title: string
  /** Plain JSON data; never a secret. What is known only while the plan is executed is a reference. */
  input: Record<string, unknown>
  /** Ids of the steps that must be done before. */
  needs: string[]
}

export interface Plan {
  /** The command that made it: `workspace up`. */
  command: string
  steps: Step[]
  /** Of each node that was looked at: whether it was taken, and why, a sentence. */
  reasons?: {node: string; taken: boolean; why: string}[]
}

/**
 * For each kind of step what its handler is given and what it gives. The inputs are plain data; the outputs live as
 * long as the command.
 */
export type KindsOf<K> = {[Kind in keyof K]: {input: object; output: unknown}}

/** A step of one of these kinds, told apart by `kind`. */
export type StepOf<K extends KindsOf<K>> = {
  [Kind in keyof K & string]: Omit<Step, 'kind' | 'input'> & {kind: Kind; input: K[Kind]['input']}
}[keyof K & string]

export interface PlanOf<K extends KindsOf<K>> extends Pick<Plan, 'command' | 'reasons'> {
  steps: StepOf<K>[]
}

/** What another step gives, or (`at`) a part of it: known once that step is done. */
export interface FromStep {
  $output: string
  at?: string[]
}

/** What whoever executes the plan brings along: a secret, or who that is and when. */
export interface FromEnv {
  $env: string
  at?: string[]
}

/** What the steps have given so far. */
export interface Outputs<K extends KindsOf<K>> {
  /** Of a step of this kind, which must be done. */
  of<Kind extends keyof K & string>(kind: Kind, from: FromStep): K[Kind]['output']
  /** Whatever its kind. */
  at(from: FromStep): unknown
}

/** Who does what: at module level, so that all it knows is the plan, what steps have given, and the environment. */
export type Handlers<K extends KindsOf<K>, E> = {
  [Kind in keyof K & string]: (input: K[Kind]['input'], done: Outputs<K>, env: E) => Promise<K[Kind]['output']>
}

export interface StepOutcome {
  step: Step
  status: 'done' | 'failed' | 'skipped'
  value?: unknown
  error?: Error
  /** When its handler began and ended, by performance.now(). */
  span?: {from: number; to: number}
}
