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
  /** Plain JSON data; never a secret. */
  input: Record<string, unknown>
  /** Ids of the steps that must be done before. */
  needs: string[]
}

export interface Plan {
  /** The command that made it: `workspace up`. */
  command: string
  steps: Step[]
}

export interface StepOutcome {
  step: Step
  status: 'done' | 'failed' | 'skipped'
  value?: unknown
  error?: Error
}
