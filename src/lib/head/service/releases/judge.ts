import type {HeadRollout} from '../../../protocol/index.ts'
import type {CanaryRules} from '../../types.ts'
import {logLine} from '../log.ts'
import type {Parts} from '../parts.ts'
import {worse, type Sample} from './compare.ts'
import type {Measured} from './measures.ts'
import {activeLane} from './way.ts'

const TICK_MS = 500
/** Requests of the canary at the first look of a step; the next looks come when there are a quarter more each. */
const FIRST_LOOK = 5
const GROWTH = 1.25
/** Nothing is overdue before that, however fast the old release is. Milliseconds. */
const PATIENCE_MS = 1000

type JudgeParts = Pick<Parts, 'endpoints' | 'rollouts' | 'measures'>

/**
 * Decides over canaries that have a judge: compares what both releases did with the same traffic since the step began,
 * takes all requests from what is worse, and gives more to what has answered enough and is not. Why these tests:
 * docs/adr/0058.
 */
export class Judge {
  readonly #parts: JudgeParts
  readonly #now: () => number
  /** By endpoint: which step it looks at, and at how many requests of the canary again. */
  readonly #steps = new Map<string, {step: string; lookAt: number}>()

  constructor(parts: JudgeParts, now: () => number = Date.now) {
    this.#parts = parts
    this.#now = now
  }

  /** Looks at every canary where it is time to. */
  async look(): Promise<void> {
    for (const name of this.#parts.endpoints.names()) await this.#lookAt(name)
  }

  async #lookAt(name: string): Promise<void> {
    const {endpoints, rollouts, measures} = this.#parts
    const record = endpoints.find(name)
    const canary = record?.document.canary
    const active = activeLane(record)
    if (!canary?.judge || !active) return void this.#steps.delete(name)
    const rollout = rollouts.of(name, canary)
    if (rollout.state !== 'running') return
    const step = `${canary.release} ${canary.since} ${rollout.step}`
    const known = this.#steps.get(name)
    const lookAt = known?.step === step ? known.lookAt : FIRST_LOOK
    const samples = sampled(measures.of(name), active.release, canary.release)
    if (!samples) return
    const [old, fresh] = samples
    const count = fresh.tally.requests + fresh.overdue
    const {minimum, hold} = canary.judge
    const isEnough =
      Math.min(fresh.tally.requests, old.tally.requests) >= minimum && this.#now() - rollout.stepSince >= hold * 1000
    if (count < lookAt && !isEnough) return
    const looks = rollout.looks + 1
    const why = worse(old, fresh, looks)
    if (why !== undefined) {
      return this.#decide(name, {...rollout, looks, state: 'returned', percent: 0, verdict: why})
    }
    if (isEnough) return this.#decide(name, this.#further(canary, {...rollout, looks}, old, fresh))
    this.#steps.set(name, {step, lookAt: Math.ceil(count * GROWTH)})
    rollouts.remember(name, {...rollout, looks})
  }

  #further({steps}: CanaryRules, rollout: HeadRollout, old: Sample, fresh: Sample): HeadRollout {
    const step = rollout.step + 1
    const percent = steps[step] ?? 100
    const verdict =
      `${fresh.release} is no worse than ${old.release} at ${rollout.percent} %: ` +
      `${fresh.tally.requests} requests, compared with ${old.tally.requests}`
    // There is nothing left to compare it with.
    if (percent >= 100) return {...rollout, step, percent: 100, state: 'passed', verdict}
    return {...rollout, step, percent, stepSince: this.#now(), verdict}
  }

  async #decide(name: string, rollout: HeadRollout): Promise<void> {
    logLine(`endpoint ${name}: ${rollout.verdict}; ${rollout.release} gets ${rollout.percent} % of the requests`)
    this.#parts.measures.newWindow(name)
    await this.#parts.rollouts.change(name, rollout).catch((error: Error) => {
      logLine(`endpoint ${name}: what was decided stands, but was not written down: ${error.message}`)
    })
  }
}

/** Does so again and again. Returns how to end that. */
export function watchCanaries(parts: JudgeParts): () => void {
  const judge = new Judge(parts)
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    judge
      .look()
      .catch((error: Error) => logLine(`canaries were not judged: ${error.stack ?? error.message}`))
      .finally(() => (isLooking = false))
  }, TICK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function sampled(measured: ReadonlyMap<string, Measured>, old: string, fresh: string): [Sample, Sample] | undefined {
  const [before, beside] = [measured.get(old), measured.get(fresh)]
  if (!before || !beside) return undefined
  // In a step in which all requests hang in the new release the old one gets none: what it did before has to do.
  const tally = before.window.requests > 0 ? before.window : before.total
  const slowest = Math.max(tally.latencies.quantile(1) ?? Infinity, PATIENCE_MS)
  const overdue = ({underWay}: Measured): number =>
    underWay.all().filter(({member: {since}}) => performance.now() - since > slowest).length
  return [
    {release: old, tally, overdue: overdue(before)},
    {release: fresh, tally: beside.window, overdue: overdue(beside)},
  ]
}
