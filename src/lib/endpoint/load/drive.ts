import {performance} from 'node:perf_hooks'
import {setTimeout as pause} from 'node:timers/promises'

export interface Load {
  /** Requests a second, on average. */
  rate: number
  seconds: number
}

/** What one request gave: milliseconds from sending it to its first byte and to its last, or why it failed. */
export type Sample = {first: number; whole: number} | {failed: string}

export interface Driven {
  /** Requests that were due. */
  planned: number
  samples: Sample[]
  /** Sent more than LATE_MS after they were due: this machine was the slow one. */
  late: number
  /** Seconds from the first request to the last answer. */
  seconds: number
}

/** A timer is up to 1 ms late by itself, and the loop of events now and then some more. */
const LATE_MS = 10

/**
 * Sends in open loop: requests come when they come (a Poisson process), whether or not answers to earlier ones are
 * there, as users do. A server that falls behind is seen in the latency, and not hidden by a client that waits for it
 * (coordinated omission: Tene, "How NOT to Measure Latency", 2013). At most `most` are under way; what is due beyond
 * that has failed. Once `signal` is aborted nothing more is sent.
 */
export async function drive(
  send: () => Promise<Sample>,
  {rate, seconds}: Load,
  {signal, most, random = Math.random}: {signal: AbortSignal; most: number; random?: () => number},
): Promise<Driven> {
  const samples: Sample[] = []
  const under = new Set<Promise<void>>()
  const begun = performance.now()
  let [due, planned, late] = [0, 0, 0]
  for (;;) {
    due += (-Math.log(1 - random()) / rate) * 1000
    if (due > seconds * 1000) break
    const wait = due - (performance.now() - begun)
    if (wait > 0) await pause(wait, undefined, {signal}).catch(() => {})
    if (signal.aborted) break
    planned++
    if (under.size >= most) {
      samples.push({failed: `${most} requests were under way`})
      continue
    }
    if (performance.now() - begun - due > LATE_MS) late++
    const one = send().then((sample) => {
      samples.push(sample)
      under.delete(one)
    })
    under.add(one)
  }
  await Promise.all(under)
  return {planned, samples, late, seconds: (performance.now() - begun) / 1000}
}
