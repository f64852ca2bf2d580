import {isReached} from '../../access/index.ts'
import {CliError, throwIfInterrupted, withProgress} from '../../base/index.ts'
import {callFor, type InvokeInput} from '../call.ts'
import type {Site} from '../site.ts'
import {endpointToken} from '../token.ts'
import {drive} from './drive.ts'
import {figuresOf, isHeld, quantile, tenth, type LoadStep} from './figures.ts'
import {Sender, type Target} from './sender.ts'

export interface BenchInput extends InvokeInput {
  /** Requests a second; empty: grows from a fourth of what one client at a time gets until the endpoint falls behind. */
  rates: number[]
  /** How long each rate is held. */
  seconds: number
  /** Seconds until a request without an answer has failed. */
  timeout: number
  /** Requests under way at most. */
  most: number
  /** Told after each rate. */
  onStep?: (step: LoadStep) => void
}

export interface BenchReport {
  endpoint: string
  model: string
  release: string
  servers: number
  /** The endpoint's own address, or the way through the SSH connection to the head's node where that is out of reach. */
  way: 'address' | 'ssh'
  /** Of the request's body. */
  bytes: number
  /** Median milliseconds of requests one after the other: what nobody can be faster than. */
  alone: number
  seconds: number
  steps: LoadStep[]
  /** The highest rate at which it kept up; null: at none. */
  holds: number | null
}

const [WARM, ALONE] = [3, 20]
const FIRST = 0.25
/** From 0.25 to 64 times what one client gets. */
const DOUBLINGS = 9

/**
 * Drives load at an endpoint in open loop and measures latency against rate. Stopped by context.signal, it reports the
 * rates that were held to their end. Errors: those of callFor; ENDPOINT_FAILED where not even one request is answered.
 */
export async function benchEndpoint(site: Site, input: BenchInput): Promise<BenchReport> {
  const call = await callFor(site, input)
  const {target, way} = await wayTo(site, input.name)
  const sender = new Sender(target, call, input.timeout * 1000)
  try {
    const alone = await one(sender, input, site)
    const steps: LoadStep[] = []
    const hold = async (rate: number): Promise<LoadStep | undefined> => {
      const load = {rate, seconds: input.seconds}
      const title = `${tenth(rate)} requests a second for ${input.seconds} s`
      const step = await withProgress(site.context.reporter, [title], async () =>
        figuresOf(
          load,
          await drive(() => sender.send(site.context.kill), load, {...input, signal: site.context.signal}),
        ),
      )
      if (site.context.signal.aborted) return undefined
      steps.push(step)
      input.onStep?.(step)
      return step
    }
    if (input.rates.length > 0) {
      for (const rate of input.rates) if ((await hold(rate)) === undefined) break
    } else await grow(1000 / alone, hold)
    if (steps.length === 0) throwIfInterrupted(site.context.signal)
    steps.sort((a, b) => a.rate - b.rate)
    const held = steps.filter(isHeld)
    return {
      endpoint: input.name,
      model: `${call.release.model.name}/${call.release.model.version}`,
      release: call.release.id,
      servers: call.release.replicas.length,
      way,
      bytes: call.body.length,
      alone: tenth(alone),
      seconds: input.seconds,
      steps,
      holds: held.at(-1)?.rate ?? null,
    }
  } finally {
    sender.close()
  }
}

/** Doubles the rate until the endpoint falls behind, then tries once between the last two. */
async function grow(base: number, hold: (rate: number) => Promise<LoadStep | undefined>): Promise<void> {
  let rate = base * FIRST
  for (let time = 0; time < DOUBLINGS; time++, rate *= 2) {
    const step = await hold(rate)
    if (step === undefined) return
    if (isHeld(step)) continue
    if (time > 0) await hold(rate / Math.SQRT2)
    return
  }
}

/** Median milliseconds of requests one after the other. */
async function one(sender: Sender, input: BenchInput, {context}: Site): Promise<number> {
  const times: number[] = []
  for (let time = 0; time < WARM + ALONE; time++) {
    throwIfInterrupted(context.signal)
    const sample = await sender.send(context.signal)
    throwIfInterrupted(context.signal)
    if ('failed' in sample) {
      throw new CliError('ENDPOINT_FAILED', `endpoint ${input.name} does not answer this request (${sample.failed})`, {
        hint: `try it once: flexrack endpoint invoke ${input.name}`,
      })
    }
    if (time >= WARM) times.push(sample.whole)
  }
  return (
    quantile(
      times.sort((a, b) => a - b),
      0.5,
    ) || 0.1
  )
}

/** The endpoint's own address where this machine reaches it, as callers do; else through SSH. */
async function wayTo(site: Site, name: string): Promise<{target: Target; way: 'address' | 'ssh'}> {
  const own = `/endpoints/${encodeURIComponent(name)}`
  const {head} = site
  // A caller's token, not the head's own: it opens this endpoint and nothing else.
  const token = await endpointToken(site, name)
  const address: Target = {url: `${head.nodeUri}${own}`, ca: head.nodeCa, token}
  if (await isReached(address.url, address.ca)) return {target: address, way: 'address'}
  throwIfInterrupted(site.context.signal)
  return {target: {url: `${head.uri}${own}`, ca: undefined, token}, way: 'ssh'}
}
