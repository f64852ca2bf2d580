import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import type {HeadRollout} from '../../../protocol/index.ts'
import type {CanaryRules} from '../../types.ts'
import {openDurables, Turns, writeDurably} from '../files/durable.ts'

/**
 * How far canaries have come: what the judge decides, beside the document in which its owner says what is wanted. One
 * file each, so that a judgement outlives the head.
 */
export class Rollouts {
  readonly #folder: string
  readonly #rollouts: Map<string, HeadRollout>
  readonly #turns = new Turns()
  readonly #changed: ((endpoint: string) => void)[] = []

  private constructor(folder: string, rollouts: Map<string, HeadRollout>) {
    this.#folder = folder
    this.#rollouts = rollouts
  }

  static async open(headFolder: string): Promise<Rollouts> {
    const folder = join(headFolder, 'rollouts')
    return new Rollouts(folder, await openDurables('head.rollout', folder))
  }

  /** Of a standby: what its first head decides is given to it (follow), and nothing of it is written. */
  static following(): Rollouts {
    return new Rollouts('', new Map())
  }

  /** What was decided so far, by endpoint. */
  all(): Record<string, HeadRollout> {
    return Object.fromEntries(this.#rollouts)
  }

  /** Has these and no others from here on. */
  follow(rollouts: Record<string, HeadRollout>): void {
    const names = new Set([...this.#rollouts.keys(), ...Object.keys(rollouts)])
    this.#rollouts.clear()
    for (const [name, rollout] of Object.entries(rollouts)) this.#rollouts.set(name, rollout)
    for (const name of names) this.#tellChanged(name)
  }

  /** Has `tell` called when a canary's part of the requests is another one. */
  whenChanged(tell: (endpoint: string) => void): void {
    this.#changed.push(tell)
  }

  #tellChanged(endpoint: string): void {
    for (const tell of this.#changed) tell(endpoint)
  }

  /** That of an endpoint's canary; at its first step without a judge, or where nothing was decided yet. */
  of(endpoint: string, canary: CanaryRules): HeadRollout {
    const known = this.#rollouts.get(endpoint)
    if (known?.release === canary.release && known.since === canary.since && canary.judge) return known
    const {release, since, steps} = canary
    const begun: HeadRollout = {
      release,
      since,
      state: 'running',
      step: 0,
      percent: steps[0] ?? 0,
      stepSince: Date.now(),
      looks: 0,
    }
    if (canary.judge) this.#rollouts.set(endpoint, begun)
    return begun
  }

  /** In memory alone: what a restart may forget. */
  remember(endpoint: string, rollout: HeadRollout): void {
    this.#rollouts.set(endpoint, rollout)
  }

  /** The gateway follows at once, the file after it: what is worse gets no request while a disk is slow, or full. */
  async change(endpoint: string, rollout: HeadRollout): Promise<void> {
    this.#rollouts.set(endpoint, rollout)
    this.#tellChanged(endpoint)
    await this.#turns.take(async () => {
      if (this.#rollouts.get(endpoint) === rollout) await writeDurably('head.rollout', this.#fileOf(endpoint), rollout)
    })
  }

  /** Its canary was promoted, or is no more. */
  forget(endpoint: string): Promise<void> {
    this.#rollouts.delete(endpoint)
    this.#tellChanged(endpoint)
    return this.#turns.take(() => rm(this.#fileOf(endpoint), {force: true}))
  }

  #fileOf(endpoint: string): string {
    return join(this.#folder, `${endpoint}.json`)
  }
}
