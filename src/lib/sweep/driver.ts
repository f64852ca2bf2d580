import {setTimeout as pause} from 'node:timers/promises'
import {isRequested, isCliError, type Context, type Reporter} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {Host} from '../host/index.ts'
import type {TrainSpec} from '../manifest/index.ts'
import {CHECKS, type CheckName} from '../preflight/index.ts'
import type {Trial} from '../protocol/index.ts'
import {openRuns, stopRun, type FoundRun, type Runs} from '../runs/index.ts'
import {planTrain, runPlan, SLURM, type SharedStart, type TrainChoice, type TrainPlace} from '../train/index.ts'
import type {Engine} from './engine.ts'
import {findTrialRuns} from './find-trials.ts'
import {whyHopeless} from './hopeless.ts'
import {Packing} from './packing.ts'
import {recordTrial} from './record-trial.ts'
import {trialChoice} from './trial-choice.ts'
import {attendTrial, type TrialEnd} from './trial.ts'
import type {TrialsInput} from './steps.ts'
import type {SweepWatch} from './types.ts'
import {bestOf, trialEnvironment, trialRun, trialWords} from './words.ts'

export interface Driving {
  /** What is to be done. */
  input: TrialsInput
  place: TrainPlace
  host(node: string): Host
  engine: Engine
  tracking: Tracking
  shared: SharedStart
  watch: SweepWatch
}

/** Between two questions whether somebody wants the end. Milliseconds. */
const LOOK_MS = 2000
/** For runs that were stopped, until their files are closed. */
const CLOSING_MS = 60_000
/** A supervisor gives back GPUs and leases after the result is there; so long after the last trial's end they may be taken, looked at so often. */
const SETTLING_MS = 20_000
const AGAIN_MS = 500

type Ending = {status: 'stopped' | 'interrupted'} | {error: unknown}

/** Keeps trials going, so many at a time, until there are no more. */
export class Driver {
  readonly #driving: Driving
  readonly #context: Context
  /** Of what goes on with single trials only warnings are told. */
  readonly #quiet: Context
  readonly #leave = new AbortController()
  readonly #runs: Runs
  readonly #active = new Map<number, FoundRun>()
  readonly #reported: Trial[] = []
  #earlier = 0
  readonly #deadline: number
  readonly #packing: Packing | undefined
  #waiting: Trial[] = []
  #ending: Ending | undefined
  #starting: Promise<unknown> = Promise.resolve()
  #freed: (() => void)[] = []
  /** Runs that are tasks of Slurm's and not attended yet. */
  readonly #arrayed = new Set<string>()
  #cancelling: Promise<unknown> | undefined
  #freedAt = -Infinity

  constructor(driving: Driving, context: Context) {
    this.#driving = driving
    this.#context = context
    const {warn} = context.reporter
    const reporter: Reporter = {begin: () => ({detail() {}, amount() {}, done() {}, fail() {}}), note() {}, warn: (message) => warn.call(context.reporter, message)}
    this.#quiet = {...context, reporter}
    this.#runs = openRuns(driving.place, {...this.#quiet, signal: this.#leave.signal})
    this.#deadline = driving.input.spec.time === undefined ? Infinity : Date.now() + driving.input.spec.time * 1000
    const {rooms} = driving.input
    this.#packing = rooms ? new Packing(rooms.nodes, rooms) : undefined
  }

  /** With the trials that there are. Returns how it ended; errors are those that end a sweep before its time. */
  async drive(trials: Trial[]): Promise<'finished' | 'stopped' | 'interrupted'> {
    this.#earlier = this.#reported.push(...trials.filter((one) => one.state !== 'running'))
    this.#waiting = trials.filter((one) => one.state === 'running')
    const found = await findTrialRuns(this.#waiting, {...this.#driving, runs: this.#runs}, this.#quiet)
    const {signal, kill} = this.#context
    const onSignal = (): void => this.#end({status: 'interrupted'}, isRequested(signal))
    const onKill = (): void => this.#stopAll(true)
    signal.addEventListener('abort', onSignal, {once: true})
    kill.addEventListener('abort', onKill, {once: true})
    if (signal.aborted) onSignal()
    const over = new AbortController()
    const looking = this.#lookForStop(over.signal)
    try {
      await this.#startArray(found)
      await Promise.all(Array.from({length: Math.max(1, this.#driving.input.parallel)}, () => this.#work(found)))
      if (this.#ending && 'error' in this.#ending) throw this.#ending.error
      return this.#ending?.status ?? 'finished'
    } finally {
      over.abort()
      await Promise.all([looking, this.#cancelling])
      signal.removeEventListener('abort', onSignal)
      kill.removeEventListener('abort', onKill)
    }
  }

  best(): Trial | null {
    return bestOf(this.#reported, this.#driving.input.spec.goal)
  }

  /** One trial after the other. Never rejects: an error ends the sweep. */
  async #work(found: Map<string, FoundRun>): Promise<void> {
    while (!this.#ending) {
      try {
        const trial = this.#waiting.shift() ?? (await this.#next())
        if (!trial) return
        await this.#try(trial, found)
      } catch (error) {
        this.#end({error}, false)
      }
    }
  }

  async #next(): Promise<Trial | undefined> {
    if (Date.now() > this.#deadline) return undefined
    const trial = await this.#driving.engine.ask()
    return 'over' in trial ? undefined : trial
  }

  /** Where no trial depends on another one's result: all of them into Slurm's queue. Never rejects: an error ends the sweep. */
  async #startArray(found: Map<string, FoundRun>): Promise<void> {
    const {input: {sweep, parallel, slurm}, engine, shared} = this.#driving
    if (!slurm?.together) return
    try {
      for (let next = await this.#next(); next; next = await this.#next()) this.#waiting.push(next)
      const fresh = this.#waiting.filter((one) => one.attempt === 1 && (one.run === null || !found.has(one.run)))
      if (fresh.length < 2 || this.#ending) return
      for (const one of fresh) await engine.bind(one.number, (one.run = trialRun(sweep, one.number, 1)))
      const tasks = fresh.map((one) => ({task: one.number, choice: this.#choiceOf(one, one.run as string, undefined)}))
      for (const run of await SLURM.startArray(slurm, this.#trainPlace(), {name: sweep, parallel, shared, tasks}, this.#quiet)) {
        found.set(run.run, run)
        this.#arrayed.add(run.run)
      }
      if (this.#ending && !this.#leave.signal.aborted) this.#cancel()
    } catch (error) {
      if (!isCliError(error, 'INTERRUPTED')) this.#end({error}, false)
    }
  }

  async #try(trial: Trial, found: Map<string, FoundRun>): Promise<void> {
    const {watch, engine} = this.#driving
    const packing = this.#packing
    const known = trial.run === null ? undefined : found.get(trial.run)
    const nodes = known ? known.nodes.map((one) => one.node) : []
    if (known) packing?.add(nodes)
    const taken = [...nodes]
    try {
      const run = known ?? (await this.#start(trial, taken))
      if (!run) return
      const running = {...trial, run: run.run}
      watch.onTrial?.(known && !this.#arrayed.delete(run.run) ? 'resumed' : 'started', running)
      this.#active.set(trial.number, run)
      if (this.#ending && !('error' in this.#ending) && !this.#leave.signal.aborted) this.#stopOne(run, false)
      const end = await attendTrial(running, run, {place: this.#driving.place, runs: this.#runs, tracking: this.#driving.tracking, engine, spec: this.#driving.input.spec, leave: this.#leave.signal}, this.#quiet)
      await this.#tell(running, run, end)
    } finally {
      this.#active.delete(trial.number)
      this.#freedAt = Date.now()
      packing?.giveBack(taken)
      for (const wake of this.#freed.splice(0)) wake()
    }
  }

  /** Starts a trial's run where there is room for it; one start after the other, so that no two choose the same GPUs. Undefined: the end came first. */
  async #start(trial: Trial, taken: string[]): Promise<FoundRun | undefined> {
    const {input: {sweep}, engine} = this.#driving
    const packing = this.#packing
    const run = trial.run ?? trialRun(sweep, trial.number, trial.attempt)
    await engine.bind(trial.number, run)
    while (!this.#ending) {
      const nodes = packing?.take()
      if (nodes || !packing) {
        if (nodes) taken.push(...nodes)
        try {
          return await this.#inTurn(() => this.#begin(this.#choiceOf(trial, run, nodes)))
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

  /** Whether what is taken now is ours, or was a moment ago: nobody else is waited for. */
  #mayWait(): boolean {
    return this.#active.size > 0 || Date.now() - this.#freedAt < SETTLING_MS
  }

  /** Until a trial has ended; right after the last one until its nodes have given back what it had. */
  async #room(): Promise<void> {
    if (this.#active.size === 0) return pause(AGAIN_MS)
    return new Promise((resolve) => this.#freed.push(resolve))
  }

  async #begin(choice: TrainChoice): Promise<FoundRun> {
    const place = this.#trainPlace()
    const train = await planTrain(place, choice, this.#quiet)
    let run: FoundRun | undefined
    await runPlan(train, place, {detach: true, onStart: (_id, {found}) => (run = found), onLines() {}}, this.#quiet)
    return run as unknown as FoundRun
  }

  #choiceOf(trial: Trial, run: string, nodes: string[] | undefined): TrainChoice {
    const {input, place, shared} = this.#driving
    const fleetChoice = {on: input.on ?? undefined, exclude: input.exclude ?? undefined}
    return trialChoice(place.manifest.train as TrainSpec, {
      ...fleetChoice, ...(nodes && {on: nodes.join(','), exclude: undefined}), run, args: trialWords(input.spec, trial.texts),
      env: {...(input.threads !== null && {OMP_NUM_THREADS: String(input.threads)}), ...trialEnvironment(input.sweep, trial)},
      ...(!input.slurm && {preflight: {skip: Object.keys(CHECKS) as CheckName[], force: false}}),
      shared: {...shared, tags: {...shared.tags, 'flexrack.trial': String(trial.number)}},
    })
  }

  /** With the sweep's own command. */
  #trainPlace(): TrainPlace {
    const {place, input: {command}} = this.#driving
    return {...place, manifest: {...place.manifest, ...(place.manifest.train && {train: {...place.manifest.train, command}})}}
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#starting.then(work, work)
    this.#starting = mine.catch(() => {})
    return mine
  }

  async #tell(trial: Trial, run: FoundRun, end: TrialEnd): Promise<void> {
    const {engine, watch} = this.#driving
    if (end.state === 'left') return
    if (end.state === 'stopped') {
      const attempt = await engine.drop(trial.number)
      // Somebody else stopped this one run: it has its turn again, unless everything is to end.
      if (!this.#ending) this.#waiting.push({...trial, run: null, attempt})
      return
    }
    await recordTrial(this.#driving.tracking, trial, run, end, this.#context)
    await engine.tell(trial.number, end)
    const reported: Trial = {...trial, state: end.state, value: end.state === 'complete' ? end.value : null, why: end.state === 'complete' ? null : end.why, ended: Date.now() / 1000}
    this.#reported.push(reported)
    watch.onTrial?.('ended', reported)
    const hopeless = whyHopeless(this.#reported, this.#earlier, this.#driving.input.sweep)
    if (hopeless) this.#end({error: hopeless}, true)
  }

  /** The first reason counts. `stop`: the running trials are stopped; else they go on without us. */
  #end(ending: Ending, stop: boolean): void {
    if (this.#ending) return
    this.#ending = ending
    for (const wake of this.#freed.splice(0)) wake()
    if (stop) this.#stopAll(false)
    else this.#leave.abort()
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
    const {input: {slurm}, host} = this.#driving
    if (slurm) this.#cancelling = host(slurm.node).call('slurm.cancel', {runs}).catch((error: Error) => this.#context.reporter.warn(error.message))
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
    while (!over.aborted && !this.#ending) {
      await pause(LOOK_MS, undefined, {signal: over}).catch(() => {})
      if (over.aborted || this.#ending) return
      await this.#driving.engine.look().catch((error: unknown) => this.#end({error}, false))
      if (this.#driving.engine.stop) this.#end({status: 'stopped'}, true)
    }
  }
}
