import type {TrackedRun} from '../tracking/index.ts'

/** Two or more runs side by side. */
export interface Comparison {
  runs: string[]
  /** Those that differ first; a value a run, null where it has none. */
  params: {name: string; values: (string | null)[]; isSame: boolean}[]
  metrics: {name: string; values: (number | null)[]}[]
}

/** Parameters and last metrics side by side. `names` are the runs' ids, in the order of `runs`. Pure. */
export function compareRuns(names: string[], runs: TrackedRun[]): Comparison {
  const keys = (pick: (run: TrackedRun) => object): string[] =>
    [...new Set(runs.flatMap((run) => Object.keys(pick(run))))].sort()
  const params = keys((run) => run.params).map((name) => {
    const values = runs.map((run) => run.params[name] ?? null)
    return {name, values, isSame: new Set(values).size === 1}
  })
  params.sort((a, b) => Number(a.isSame) - Number(b.isSame))
  return {
    runs: names,
    params,
    metrics: keys((run) => run.metrics).map((name) => ({
      name,
      values: runs.map((run) => run.metrics[name]?.value ?? null),
    })),
  }
}
