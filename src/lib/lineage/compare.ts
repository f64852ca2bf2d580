import type {RecordedOutput} from '../protocol/index.ts'

export type Verdict = 'equal' | 'within tolerance' | 'differs'

/** A metric of both runs, step by step. */
export interface MetricVerdict {
  metric: string
  verdict: Verdict
  steps: number
  /** The first step at which they differ at all. */
  first: {step: number; was: number | null; is: number | null} | null
  /** The largest difference, relative to the larger of both; null where one has a step that the other lacks. */
  largest: number | null
}

export interface OutputVerdict {
  path: string
  verdict: 'equal' | 'differs' | 'missing'
}

export interface ComparedAgain {
  verdict: Verdict
  metrics: MetricVerdict[]
  outputs: OutputVerdict[]
  /** Packages that are others: `torch==2.0 -> torch==2.1`. */
  packages: string[]
}

export interface Point {
  step: number
  value: number
}

/** Metrics, outputs and packages against each other. A difference of outputs is told; metrics decide, where there are any. Pure. */
export function compare(
  was: {metrics: ReadonlyMap<string, Point[]>; outputs: RecordedOutput[]; packages: string},
  is: {metrics: ReadonlyMap<string, Point[]>; outputs: RecordedOutput[]; packages: string},
  tolerance: number,
): ComparedAgain {
  const metrics = [...new Set([...was.metrics.keys(), ...is.metrics.keys()])]
    .toSorted()
    .map((name) => compareMetric(name, was.metrics.get(name) ?? [], is.metrics.get(name) ?? [], tolerance))
  const outputs = was.outputs.map(({path, sha256}): OutputVerdict => {
    const other = is.outputs.find((one) => one.path === path)
    return {path, verdict: !other ? 'missing' : other.sha256 === sha256 ? 'equal' : 'differs'}
  })
  const isSame = outputs.every((one) => one.verdict === 'equal')
  const verdict: Verdict =
    metrics.some((one) => one.verdict === 'differs') ||
    outputs.some((one) => one.verdict === 'missing') ||
    (metrics.length === 0 && !isSame)
      ? 'differs'
      : isSame && metrics.every((one) => one.verdict === 'equal')
        ? 'equal'
        : 'within tolerance'
  return {verdict, metrics, outputs, packages: packagesThatDiffer(was.packages, is.packages)}
}

/** The last value of a step counts, as a step that was made again after a restart is logged again. */
function compareMetric(metric: string, was: Point[], is: Point[], tolerance: number): MetricVerdict {
  const [before, after] = [was, is].map((points) => new Map(points.map((one) => [one.step, one.value]))) as [
    Map<number, number>,
    Map<number, number>,
  ]
  const steps = [...new Set([...before.keys(), ...after.keys()])].toSorted((a, b) => a - b)
  let first: MetricVerdict['first'] = null
  let largest: number | null = 0
  for (const step of steps) {
    const [a, b] = [before.get(step), after.get(step)]
    if (a === b || Object.is(a, b)) continue
    first ??= {step, was: a ?? null, is: b ?? null}
    if (a === undefined || b === undefined || !Number.isFinite(a) || !Number.isFinite(b)) largest = null
    else if (largest !== null) largest = Math.max(largest, Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b)))
  }
  const verdict = first === null ? 'equal' : largest !== null && largest <= tolerance ? 'within tolerance' : 'differs'
  return {metric, verdict, steps: steps.length, first, largest}
}

function packagesThatDiffer(was: string, is: string): string[] {
  const [before, after] = [was, is].map((text) => new Map(text.split('\n').filter(Boolean).map(nameAndLine))) as [
    Map<string, string>,
    Map<string, string>,
  ]
  return [...new Set([...before.keys(), ...after.keys()])]
    .toSorted()
    .filter((name) => before.get(name) !== after.get(name))
    .map((name) => `${before.get(name) ?? 'none'} -> ${after.get(name) ?? 'none'}`)
}

function nameAndLine(line: string): [name: string, line: string] {
  return [line.split('==')[0]?.toLowerCase() ?? line, line]
}
