import {setTimeout as pause} from 'node:timers/promises'
import {CliError, isCliError, type Context, type Reporter} from '../base/index.ts'
import type {Tracking} from '../head/index.ts'
import type {TrainSpec} from '../manifest/index.ts'
import {CHECKS, type CheckName} from '../preflight/index.ts'
import {openRuns, stopRun, type FoundRun, type Runs} from '../runs/index.ts'
import {planTrain, runPlan, type SharedStart, type TrainPlace} from '../train/index.ts'
import type {Engine} from './engine.ts'
import type {SweepPlan} from './plan.ts'
import {trialChoice} from './trial-choice.ts'
import {attendTrial, type TrialEnd} from './trial.ts'
import type {SweepWatch, Trial} from './types.ts'
import {bestOf, trialEnvironment, trialRun, trialWords} from './words.ts'

export interface Driving {
  plan: SweepPlan
  place: TrainPlace
  engine: Engine
  tracking: Tracking
  shared: SharedStart
  /** Trials that there are to be. */
  limit: number
  watch: SweepWatch
  fleetChoice: {on: string | undefined; exclude: string | undefined}
}

/** So many failures before the first success, and it is not the parameters. */
const HOPELESS = 3
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
  readonly #told: Trial[] = []
  readonly #deadline: number
  #waiting: Trial[] = []
  #ending: Ending | undefined
  #starting: Promise<unknown> = Promise.resolve()
  #freed: (() => void)[] = []
  #failures = 0
  #freedAt = -Infinity

  constructor(driving: Driving, context: Context) {
    this.#driving = driving
    this.#context = context
    const {warn} = context.reporter
    const reporter: Reporter = {begin: () => ({detail() {}, amount() {}, done() {}, fail() {}}), note() {}, warn: (message) => warn.call(context.reporter, message)}
    this.#quiet = {...context, reporter}
    this.#runs = openRuns(driving.place, {...this.#quiet, signal: this.#leave.signal})
    this.#deadline = driving.plan.spec.time === undefined ? Infinity : Date.now() + driving.plan.spec.time * 1000
  }

  /** With the trials that there are. Returns how it ended; errors are those that end a sweep before its time. */
  async drive(trials: Trial[]): Promise<'finished' | 'stopped' | 'interrupted'> {
    this.#told.push(...trials.filter((one) => one.state !== 'running'))
    this.#waiting = trials.filter((one) => one.state === 'running')
    const found = await this.#findRuns(this.#waiting)
    const {signal, kill} = this.#context
    const onSignal = (): void => this.#end({status: 'interrupted'}, isStop(signal))
    const onKill = (): void => this.#stopAll(true)
    signal.addEventListener('abort', onSignal, {once: true})
    kill.addEventListener('abort', onKill, {once: true})
    if (signal.aborted) onSignal()
    const over = new AbortController()
    const looking = this.#lookForStop(over.signal)
    try {
      await Promise.all(Array.from({length: Math.max(1, this.#driving.plan.parallel)}, () => this.#work(found)))
      if (this.#ending && 'error' in this.#ending) throw this.#ending.error
      return this.#ending?.status ?? 'finished'
    } finally {
      over.abort()
      await looking
      signal.removeEventListener('abort', onSignal)
      kill.removeEventListener('abort', onKill)
    }
  }

  best(): Trial | null {
    return bestOf(this.#told, this.#driving.plan.spec.goal)
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

  async #try(trial: Trial, found: Map<string, FoundRun>): Promise<void> {
    const {plan: {packing}, watch, engine} = this.#driving
    const known = trial.run === null ? undefined : found.get(trial.run)
    const nodes = known ? known.nodes.map((one) => one.node) : []
    if (known) packing?.add(nodes)
    const taken = [...nodes]
    try {
      const run = known ?? (await this.#start(trial, taken))
      if (!run) return
      const running = {...trial, run: run.run}
      watch.onTrial?.(known ? 'resumed' : 'started', running)
      this.#active.set(trial.number, run)
      if (this.#ending && !('error' in this.#ending) && !this.#leave.signal.aborted) this.#stopOne(run, false)
      const end = await attendTrial(running, run, {place: this.#driving.place, runs: this.#runs, tracking: this.#driving.tracking, engine, spec: this.#driving.plan.spec, leave: this.#leave.signal}, this.#quiet)
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
    const {plan, place, engine, shared, fleetChoice} = this.#driving
    const run = trial.run ?? trialRun(plan.sweep, trial.number, trial.attempt)
    await engine.bind(trial.number, run)
    const env = {...(plan.threads !== undefined && {OMP_NUM_THREADS: String(plan.threads)}), ...trialEnvironment(plan.sweep, trial)}
    while (!this.#ending) {
      const nodes = plan.packing?.take()
      if (nodes || !plan.packing) {
        if (nodes) taken.push(...nodes)
        const choice = trialChoice(place.manifest.train as TrainSpec, {
          ...fleetChoice, ...(nodes && {on: nodes.join(','), exclude: undefined}), run, env, args: trialWords(plan.spec, trial.texts),
          ...(!plan.slurm && {preflight: {skip: Object.keys(CHECKS) as CheckName[], force: false}}),
          shared: {...shared, tags: {...shared.tags, 'flexrack.trial': String(trial.number)}},
        })
        try {
          return await this.#inTurn(() => this.#begin(choice))
        } catch (error) {
          if (isCliError(error, 'INTERRUPTED')) {
            await engine.drop(trial.number)
            return undefined
          }
          if (!isCliError(error, 'RESERVED', 'GPU_UNAVAILABLE') || !this.#mayWait()) throw error
        }
        plan.packing?.giveBack(taken.splice(0))
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

  async #begin(choice: Parameters<typeof planTrain>[1]): Promise<FoundRun> {
    const {place} = this.#driving
    const manifest = {...place.manifest, ...(place.manifest.train && {train: {...place.manifest.train, command: this.#driving.plan.command}})}
    const train = await planTrain({...place, manifest}, choice, this.#quiet)
    const {run} = await runPlan(train, place, {detach: true, onLines() {}}, this.#quiet)
    return {run, nodes: [...train.live.started].sort((a, b) => a.index - b.index)}
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
    await this.#record(trial, run, end)
    await engine.tell(trial.number, end)
    const told: Trial = {...trial, state: end.state, value: end.state === 'complete' ? end.value : null, why: end.state === 'complete' ? null : end.why, ended: Date.now() / 1000}
    this.#told.push(told)
    watch.onTrial?.('ended', told)
    this.#judge(told)
  }

  /** The record of the run says what it was, with the parameters that the script itself has not logged. */
  async #record(trial: Trial, run: FoundRun, end: TrialEnd): Promise<void> {
    const id = run.nodes.find((one) => one.tracked !== null)?.tracked
    if (!id) return
    const {mlflow} = this.#driving.tracking
    try {
      const {params} = await mlflow.getRun(id)
      const missing = Object.fromEntries(Object.entries(trial.texts).filter(([name]) => params[name] === undefined))
      await mlflow.logBatch(id, {params: missing, tags: {'flexrack.sweep.state': end.state}})
    } catch (error) {
      if (!isCliError(error)) throw error
      this.#context.reporter.warn(`the parameters of ${run.run} were not recorded: ${error.message}`)
    }
  }

  /** Where everything fails from the start, it is not the parameters. */
  #judge(trial: Trial): void {
    this.#failures = trial.state === 'failed' ? this.#failures + 1 : 0
    if (this.#failures < HOPELESS || this.#told.some((one) => one.state !== 'failed')) return
    const {sweep} = this.#driving.plan
    this.#end({error: new CliError('RUN_FAILED', `the first ${this.#failures} trials of sweep ${sweep} all failed, the last one because ${trial.why}`, {hint: `flexrack runs logs ${trial.run}\nflexrack sweep show ${sweep}`, details: {sweep, run: trial.run, trials: this.#told.map((one) => one.run)}})}, true)
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
    setTimeout(() => this.#leave.abort(), CLOSING_MS).unref()
  }

  #stopOne(run: FoundRun, kill: boolean): void {
    stopRun(this.#driving.place, run, {kill}, this.#quiet).catch((error: Error) => {
      this.#context.reporter.warn(error.message)
      this.#leave.abort()
    })
  }

  async #lookForStop(over: AbortSignal): Promise<void> {
    while (!over.aborted && !this.#ending) {
      await pause(LOOK_MS, undefined, {signal: over}).catch(() => {})
      if (over.aborted || this.#ending) return
      await this.#driving.engine.look().catch((error: unknown) => this.#end({error}, false))
      if (this.#driving.engine.stop) this.#end({status: 'stopped'}, true)
    }
  }

  /** The runs of trials that an earlier command has left. What it was still starting is no run yet, and is started under the same id. */
  async #findRuns(trials: Trial[]): Promise<Map<string, FoundRun>> {
    const found = new Map<string, FoundRun>()
    if (trials.every((one) => one.run === null)) return found
    const {place, tracking, engine} = this.#driving
    const {runs, failed} = await this.#runs.look()
    for (const trial of trials) {
      const run = runs.find((one) => one.run === trial.run)
      if (trial.run === null) continue
      if (!run && failed.size > 0) throw new CliError('NODE_UNREACHABLE', `trial ${trial.number} may go on on ${[...failed.keys()].join(', ')}, which did not answer`, {details: {nodes: [...failed.keys()]}})
      // The login node tells of a whole job of Slurm; else one that is not on all of its nodes was cut short.
      if (run && (run.nodes[0]?.slurm || run.nodes.length === (run.nodes[0]?.nodes.length ?? 0))) {
        found.set(run.run, run)
        continue
      }
      if (run) {
        await stopRun(place, run, {kill: true}, this.#quiet)
        Object.assign(trial, {attempt: await engine.drop(trial.number), run: null})
      }
      for (const one of await tracking.mlflow.searchRuns({experimentIds: [await this.#experiment()], filter: `tags.\`flexrack.run\` = '${run?.run ?? trial.run}'`})) await tracking.mlflow.deleteRun(one.id)
    }
    return found
  }

  async #experiment(): Promise<string> {
    return (await this.#driving.tracking.mlflow.ensureExperiment(this.#driving.place.manifest.tracking.experiment)).id
  }
}

/** The user asked for the end; otherwise only the terminal, or the reader of our output, has gone. */
function isStop(signal: AbortSignal): boolean {
  return !(signal.reason instanceof Error && signal.reason.message.endsWith('has gone'))
}
