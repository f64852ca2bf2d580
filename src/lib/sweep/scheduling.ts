import {setTimeout as pause} from 'node:timers/promises'
import {isCliError, type Context} from '../base/index.ts'
import type {Trial} from '../protocol/index.ts'
import type {FoundRun} from '../runs/index.ts'
import {planTrain, runPlan, type TrainChoice} from '../train/index.ts'
import {choiceOf, placeOfTrials, type Driving} from './driving.ts'
import type {Ending} from './ending.ts'
import {Packing} from './packing.ts'
import {trialRun} from './words.ts'

/**
 * A supervisor gives back GPUs and leases after the result is there; so long after the last trial's end they may be
 * taken, looked at so often.
 */
const SETTLING_MS = 20_000
const AGAIN_MS = 500

/** Starts trials' runs where there is room for them, one after the other, so that no two choose the same GPUs. */
export class Scheduling {
  readonly #driving: Driving
  readonly #ending: Ending
  readonly #context: Context
  readonly #packing: Packing | undefined
  #starting: Promise<unknown> = Promise.resolve()
  #waiting: (() => void)[] = []
  #freedAt = -Infinity

  constructor(driving: Driving, ending: Ending, context: Context) {
    const {rooms} = driving.input
    this.#driving = driving
    this.#ending = ending
    this.#context = context
    this.#packing = rooms ? new Packing(rooms.nodes, rooms) : undefined
  }

  /** Where a run goes on that an earlier command has started. */
  add(nodes: string[]): void {
    this.#packing?.add(nodes)
  }

  /**
   * `taken` gets the nodes that the trial has room on, to be given back when it is over. Undefined: the end came first.
   */
  async start(trial: Trial, taken: string[]): Promise<FoundRun | undefined> {
    const {
      input: {sweep},
      engine,
    } = this.#driving
    const packing = this.#packing
    const run = trial.run ?? trialRun(sweep, trial.number, trial.attempt)
    await engine.bind(trial.number, run)
    while (!this.#ending.hasReason) {
      const nodes = packing?.take()
      if (nodes || !packing) {
        if (nodes) taken.push(...nodes)
        try {
          return await this.#inTurn(() => this.#begin(choiceOf(this.#driving, trial, run, nodes)))
        } catch (error) {
          if (isCliError(error, 'INTERRUPTED')) {
            await engine.drop(trial.number)
            return undefined
          }
          if (!isCliError(error, 'RESERVED', 'GPU_UNAVAILABLE') || !this.#mayWait()) throw error
        }
        packing?.giveBack(taken.splice(0))
      }
      await this.#room()
    }
    return undefined
  }

  giveBack(nodes: string[]): void {
    this.#freedAt = Date.now()
    this.#packing?.giveBack(nodes)
    this.wake()
  }

  /** Who waits for room looks again. */
  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** Whether what is taken now is ours, or was a moment ago: nobody else is waited for. */
  #mayWait(): boolean {
    return this.#ending.isAnyActive || Date.now() - this.#freedAt < SETTLING_MS
  }

  /** Until a trial has ended; right after the last one until its nodes have given back what it had. */
  async #room(): Promise<void> {
    if (!this.#ending.isAnyActive) return pause(AGAIN_MS)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async #begin(choice: TrainChoice): Promise<FoundRun> {
    const place = placeOfTrials(this.#driving)
    const train = await planTrain(place, choice, this.#context)
    let run: FoundRun | undefined
    await runPlan(train, place, {detach: true, onStart: (_id, {found}) => (run = found), onLines() {}}, this.#context)
    return run as unknown as FoundRun
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#starting.then(work, work)
    this.#starting = mine.catch(() => {})
    return mine
  }
}
