import type {Driven, Load} from './drive.ts'

/** What a load gave. Times in milliseconds; null where nothing was answered. */
export interface LoadStep {
  /** Requests a second that were sent, on average. */
  rate: number
  sent: number
  answered: number
  /** Answers a second. */
  throughput: number
  p50: number | null
  p90: number | null
  p99: number | null
  max: number | null
  /** Median until the first byte: of answers that stream, the first token. */
  first: number | null
  /** How many failed, by why. */
  failed: Record<string, number>
  /** How many were sent late, because this machine was busy. */
  late: number
}

/** Pure. */
export function figuresOf({rate}: Load, {planned, samples, late, seconds}: Driven): LoadStep {
  const whole: number[] = []
  const first: number[] = []
  const failed: Record<string, number> = {}
  for (const sample of samples) {
    if ('failed' in sample) failed[sample.failed] = (failed[sample.failed] ?? 0) + 1
    else {
      whole.push(sample.whole)
      first.push(sample.first)
    }
  }
  for (const list of [whole, first]) list.sort((a, b) => a - b)
  return {
    rate: tenth(rate),
    sent: planned,
    answered: whole.length,
    throughput: tenth(seconds > 0 ? whole.length / seconds : 0),
    p50: quantile(whole, 0.5),
    p90: quantile(whole, 0.9),
    p99: quantile(whole, 0.99),
    max: quantile(whole, 1),
    first: quantile(first, 0.5),
    failed,
    late,
  }
}

/** Of a sorted list, the smallest value that at least this part of all is not above (nearest rank); null of none. */
export function quantile(sorted: readonly number[], part: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)]
  return value === undefined ? null : tenth(value)
}

/** Whether an endpoint keeps up with what came: at most 1 % failed, and answers came as fast as requests. */
export function isHeld({sent, answered, rate, throughput}: LoadStep): boolean {
  // Of few requests the number is up to chance: a Poisson count is off by its root.
  const least = rate * 0.9 - (2 * rate) / Math.sqrt(Math.max(1, sent))
  return sent > 0 && answered >= sent * 0.99 && throughput >= least
}

export const tenth = (value: number): number => Math.round(value * 10) / 10
