import {isCliError, type Context, type Reporter} from '../base/index.ts'
import type {Trial} from '../protocol/index.ts'
import {openRuns, type FoundRun, type Runs} from '../runs/index.ts'
import {freshOnes, startArray} from './array.ts'
import type {Driving} from './driving.ts'
import {Ending} from './ending.ts'
import {findTrialRuns} from './find-trials.ts'
import {whyHopeless} from './hopeless.ts'
import {recordTrial} from './record-trial.ts'
import {Scheduling} from './scheduling.ts'
import {attendTrial, type TrialEnd} from './trial.ts'
import {bestOf} from './words.ts'

/** Keeps trials going, so many at a time, until there are no more. */
export class Driver {
  readonly #driving: Driving
  readonly #context: Context
  /** Of what goes on with single trials only warnings are told. */
  readonly #quiet: Context
  readonly #ending: Ending
  readonly #scheduling: Scheduling
  readonly #runs: Runs
  readonly #reported: Trial[] = []
  #earlier = 0
  readonly #deadline: number
  #waiting: Trial[] = []

  constructor(driving: Driving, context: Context) {
    this.#driving = driving
    this.#context = context
    const {warn} = context.reporter
    const reporter: Reporter = {
      begin: () => ({detail() {}, amount() {}, done() {}, fail() {}}),
      note() {},
      warn: (message) => warn.call(context.reporter, message),
    }
    this.#quiet = {...context, reporter}
    this.#ending = new Ending(driving, context, this.#quiet, () => this.#scheduling.wake())
    this.#scheduling = new Scheduling(driving, this.#ending, this.#quiet)
    this.#runs = openRuns(driving.place, {...this.#quiet, signal: this.#ending.leave})
    this.#deadline = driving.input.spec.time === undefined ? Infinity : Date.now() + driving.input.spec.time * 1000
  }

  /** With the trials that there are. Returns how it ended; errors are those that end a sweep before its time. */
  async drive(trials: Trial[]): Promise<'finished' | 'stopped' | 'interrupted'> {
    this.#earlier = this.#reported.push(...trials.filter((one) => one.state !== 'running'))
    this.#waiting = trials.filter((one) => one.state === 'running')
    const found = await findTrialRuns(this.#waiting, {...this.#driving, runs: this.#runs}, this.#quiet)
    const close = this.#ending.begin()
    try {
      await this.#startArray(found)
      await Promise.all(Array.from({length: Math.max(1, this.#driving.input.parallel)}, () => this.#work(found)))
      return this.#ending.result()
    } finally {
      await close()
    }
  }

  best(): Trial | null {
    return bestOf(this.#reported, this.#driving.input.spec.goal)
  }

  /** One trial after the other. Never rejects: an error ends the sweep. */
  async #work(found: Map<string, FoundRun>): Promise<void> {
    while (!this.#ending.hasReason) {
      try {
        const trial = this.#waiting.shift() ?? (await this.#next())
        if (!trial) return
        await this.#try(trial, found)
      } catch (error) {
        this.#ending.end({error}, false)
      }
    }
  }

  async #next(): Promise<Trial | undefined> {
    if (Date.now() > this.#deadline) return undefined
    const trial = await this.#driving.engine.ask()
    return 'over' in trial ? undefined : trial
  }

  /**
   * Where no trial depends on another one's result: all of them into Slurm's queue. Never rejects: an error ends the
   * sweep.
   */
  async #startArray(found: Map<string, FoundRun>): Promise<void> {
    if (!this.#driving.input.slurm?.together) return
    try {
      for (let next = await this.#next(); next; next = await this.#next()) this.#waiting.push(next)
      const fresh = freshOnes(this.#waiting, found)
      if (fresh.length < 2 || this.#ending.hasReason) return
      const runs = await startArray(this.#driving, fresh, this.#quiet)
      for (const run of runs) found.set(run.run, run)
      this.#ending.addArray(runs.map(({run}) => run))
    } catch (error) {
      if (!isCliError(error, 'INTERRUPTED')) this.#ending.end({error}, false)
    }
  }

  async #try(trial: Trial, found: Map<string, FoundRun>): Promise<void> {
    const {
      watch,
      engine,
      place,
      tracking,
      input: {spec},
    } = this.#driving
    const known = trial.run === null ? undefined : found.get(trial.run)
    const taken = known ? known.nodes.map((one) => one.node) : []
    this.#scheduling.add(taken)
    try {
      const run = known ?? (await this.#scheduling.start(trial, taken))
      if (!run) return
      const running = {...trial, run: run.run}
      watch.onTrial?.(known && !this.#ending.removeFromArray(run.run) ? 'resumed' : 'started', running)
      this.#ending.add(trial.number, run)
      const end = await attendTrial(
        running,
        run,
        {place, runs: this.#runs, tracking, engine, spec, leave: this.#ending.leave},
        this.#quiet,
      )
      await this.#tell(running, run, end)
    } finally {
      this.#ending.remove(trial.number)
      this.#scheduling.giveBack(taken)
    }
  }

  async #tell(trial: Trial, run: FoundRun, end: TrialEnd): Promise<void> {
    const {engine, watch} = this.#driving
    if (end.state === 'left') return
    if (end.state === 'stopped') {
      const attempt = await engine.drop(trial.number)
      // Somebody else stopped this one run: it has its turn again, unless everything is to end.
      if (!this.#ending.hasReason) this.#waiting.push({...trial, run: null, attempt})
      return
    }
    await recordTrial(this.#driving.tracking, trial, run, end, this.#context)
    await engine.tell(trial.number, end)
    const reported: Trial = {
      ...trial,
      state: end.state,
      value: end.state === 'complete' ? end.value : null,
      why: end.state === 'complete' ? null : end.why,
      ended: Date.now() / 1000,
    }
    this.#reported.push(reported)
    watch.onTrial?.('ended', reported)
    const hopeless = whyHopeless(this.#reported, this.#earlier, this.#driving.input.sweep)
    if (hopeless) this.#ending.end({error: hopeless}, true)
  }
}
