import {setTimeout as pause} from 'node:timers/promises'
import {isRequested, type Context} from '../base/index.ts'
import {stopRun, type FoundRun} from '../runs/index.ts'
import type {Driving} from './driving.ts'

/** Between two questions whether somebody wants the end. Milliseconds. */
const LOOK_MS = 2000
/** For runs that were stopped, until their files are closed. */
const CLOSING_MS = 60_000

type Reason = {status: 'stopped' | 'interrupted'} | {error: unknown}

/**
 * How a sweep ends before there are no more trials: by a signal, by `sweep stop`, by an error. Knows what runs until
 * then.
 */
export class Ending {
  readonly #driving: Driving
  readonly #context: Context
  readonly #quiet: Context
  readonly #onEnd: () => void
  readonly #leave = new AbortController()
  readonly #active = new Map<number, FoundRun>()
  /** Runs that are tasks of Slurm's and not attended yet. */
  readonly #arrayed = new Set<string>()
  #reason: Reason | undefined
  #cancelling: Promise<unknown> | undefined

  /** `quiet` tells warnings only. `onEnd` is called once, when the end has a reason. */
  constructor(driving: Driving, context: Context, quiet: Context, onEnd: () => void) {
    this.#driving = driving
    this.#context = context
    this.#quiet = quiet
    this.#onEnd = onEnd
  }

  get hasReason(): boolean {
    return this.#reason !== undefined
  }

  /** Aborted: what runs, or is still to be recorded, is left alone. */
  get leave(): AbortSignal {
    return this.#leave.signal
  }

  get isAnyActive(): boolean {
    return this.#active.size > 0
  }

  /** Throws the error that was the reason. */
  result(): 'finished' | 'stopped' | 'interrupted' {
    if (this.#reason && 'error' in this.#reason) throw this.#reason.error
    return this.#reason?.status ?? 'finished'
  }

  /** From now on signals and `sweep stop` end it. Call the result when there are no more trials. */
  begin(): () => Promise<void> {
    const {signal, kill} = this.#context
    const onSignal = (): void => this.end({status: 'interrupted'}, isRequested(signal))
    const onKill = (): void => this.#stopAll(true)
    signal.addEventListener('abort', onSignal, {once: true})
    kill.addEventListener('abort', onKill, {once: true})
    if (signal.aborted) onSignal()
    const over = new AbortController()
    const looking = this.#lookForStop(over.signal)
    return async () => {
      over.abort()
      await Promise.all([looking, this.#cancelling])
      signal.removeEventListener('abort', onSignal)
      kill.removeEventListener('abort', onKill)
    }
  }

  /** The first reason counts. `stop`: the running trials are stopped; else they go on without us. */
  end(reason: Reason, stop: boolean): void {
    if (this.#reason) return
    this.#reason = reason
    this.#onEnd()
    if (stop) this.#stopAll(false)
    else this.#leave.abort()
  }

  /** A trial's run goes on from here; it is stopped where the end came while it was started. */
  add(trial: number, run: FoundRun): void {
    this.#active.set(trial, run)
    if (this.#reason && !('error' in this.#reason) && !this.#leave.signal.aborted) this.#stopOne(run, false)
  }

  remove(trial: number): void {
    this.#active.delete(trial)
  }

  /** Tasks of Slurm's; cancelled where the end came while they were submitted. */
  addArray(runs: string[]): void {
    for (const run of runs) this.#arrayed.add(run)
    if (this.#reason && !this.#leave.signal.aborted) this.#cancel()
  }

  /** Whether it was a task that is attended only now. */
  removeFromArray(run: string): boolean {
    return this.#arrayed.delete(run)
  }

  #stopAll(kill: boolean): void {
    for (const run of this.#active.values()) this.#stopOne(run, kill)
    this.#cancel()
    setTimeout(() => this.#leave.abort(), CLOSING_MS).unref()
  }

  /** What stands in Slurm's queue, or has begun there unattended. */
  #cancel(): void {
    if (this.#arrayed.size === 0) return
    const runs = [...this.#arrayed]
    const {
      input: {slurm},
      host,
    } = this.#driving
    if (slurm)
      this.#cancelling = host(slurm.node)
        .call('slurm.cancel', {runs})
        .catch((error: Error) => this.#context.reporter.warn(error.message))
  }

  #stopOne(run: FoundRun, kill: boolean): void {
    stopRun(this.#driving.place, run, {kill}, this.#quiet).then(
      // How it ended there nobody may know: it is not waited for.
      ({unreached}) => unreached.length > 0 && this.#leave.abort(),
      (error: Error) => {
        this.#context.reporter.warn(error.message)
        this.#leave.abort()
      },
    )
  }

  async #lookForStop(over: AbortSignal): Promise<void> {
    const {engine} = this.#driving
    while (!over.aborted && !this.#reason) {
      await pause(LOOK_MS, undefined, {signal: over}).catch(() => {})
      if (over.aborted || this.#reason) return
      await engine.look().catch((error: unknown) => this.end({error}, false))
      if (engine.stop) this.end({status: 'stopped'}, true)
    }
  }
}
