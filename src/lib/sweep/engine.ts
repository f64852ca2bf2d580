import {PassThrough} from 'node:stream'
import {CliError, readPythonLocks, withoutHashes, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {SweepSpec} from '../manifest/index.ts'
import type {EngineCommand, EngineInput, Trial, Verbs} from '../protocol/index.ts'

/** Locks of what Optuna leaves to its user, by sampler. */
const MORE: Partial<Record<SweepSpec['sampler'], string>> = {
  cmaes: 'sweep-cmaes',
  qmc: 'sweep-scipy',
  gp: 'sweep-scipy',
}
const TORCH = 'torch==2.13.0'

/**
 * Requirements of the environment that a sweep's engine runs in: exact versions with their hashes (locks/sweep.in). The
 * sampler gp has PyTorch besides, of which every index has builds of its own, for CPUs or for a CUDA: a hash would
 * choose one for all nodes, and pip takes hashes for all packages or for none.
 */
export function engineRequirements({sampler}: Pick<SweepSpec, 'sampler'>): string {
  const lock = readPythonLocks(['sweep', ...(MORE[sampler] ? [MORE[sampler]] : [])])
  return sampler === 'gp' ? `${withoutHashes(lock)}${TORCH}\n` : lock
}

type Said = Verbs['sweep.drive']['event']
/** Without the number that it gets. */
type Command = EngineCommand extends infer C ? (C extends EngineCommand ? Omit<C, 'id'> : never) : never

interface Waiting {
  resolve(event: Said): void
  reject(error: Error): void
}

/**
 * The side of a sweep that chooses: Optuna, in a process on the head's node that lives as long as this conversation and
 * holds the sweep's lock (node/flexrack_node/sweep/engine.py). After `close`, or where the connection is lost, nothing
 * of it stays but the storage.
 */
export class Engine {
  /** The trials that there were. Rejects where it did not start: LOCKED while somebody else drives the sweep. */
  readonly ready: Promise<{trials: Trial[]; limit: number}>
  /** Somebody asked for the end of the sweep, from elsewhere. */
  stop = false
  readonly #body = new PassThrough()
  readonly #waiting = new Map<number, Waiting>()
  readonly #call: Promise<unknown>
  #number = 0
  #over: Error | undefined

  constructor(host: Host, input: EngineInput, context: Context) {
    const ready = new Promise<Said>((resolve, reject) => this.#waiting.set(0, {resolve, reject}))
    this.ready = ready as unknown as Engine['ready']
    this.ready.catch(() => {})
    // Still needed after the first Ctrl-C: what has ended by then is to be told.
    this.#call = host
      .call('sweep.drive', input, {body: this.#body, signal: context.kill, onEvent: (event) => this.#hear(event)})
      .then(
        // In peace, and not asked by us: it has heard nothing for minutes (sweep/engine.py, SILENCE), because this
        // machine slept, say.
        () =>
          this.#end(
            new CliError(
              'TIMED_OUT',
              `the engine of sweep ${input.sweep} has heard nothing from here for minutes, and has ended`,
              {details: {node: host.node}},
            ),
          ),
        (error: Error) => this.#end(error),
      )
  }

  /** The next trial, noted in the storage; or why there is none. */
  async ask(): Promise<Trial | {over: string}> {
    return this.#say<Trial | {over: string}>({do: 'ask'})
  }

  /** Notes the run that a trial is: before the run is started, so that it is never started twice. */
  async bind(number: number, run: string): Promise<void> {
    await this.#say({do: 'bind', number, run})
  }

  /**
   * The trial's run is over and nothing was learnt from it: it is to be started again, as another run. Returns which
   * attempt that is.
   */
  async drop(number: number): Promise<number> {
    return (await this.#say<{attempt: number}>({do: 'drop', number})).attempt
  }

  /** Values by step, in order; true: it does badly, and is to be ended. */
  async report(number: number, values: [step: number, value: number][]): Promise<boolean> {
    return (await this.#say<{prune: boolean}>({do: 'report', number, values})).prune
  }

  async tell(
    number: number,
    end: {state: 'complete'; value: number} | {state: 'pruned' | 'failed'; why: string},
  ): Promise<void> {
    await this.#say({do: 'tell', number, ...end})
  }

  /** Only to learn whether somebody asked for the end. */
  async look(): Promise<void> {
    await this.#say({do: 'look'})
  }

  /** Notes how the sweep ended, and what made the difference. */
  async finish(status: 'finished' | 'stopped' | 'failed' | 'interrupted'): Promise<void> {
    await this.#say({do: 'finish', status})
  }

  /** Ends the process there; the lock is free then. Never rejects. */
  async close(): Promise<void> {
    this.#body.end()
    await this.#call
  }

  async #say<T>(command: Command): Promise<T> {
    await this.ready
    if (this.#over) throw this.#over
    const id = ++this.#number
    const answer = new Promise<Said>((resolve, reject) => this.#waiting.set(id, {resolve, reject}))
    this.#body.write(`${JSON.stringify({id, ...command})}\n`)
    return (await answer) as unknown as T
  }

  #hear(event: Said): void {
    const id = event.event === 'ready' ? 0 : event.event === 'done' ? Number(event.id) : NaN
    if (event.stop === true) this.stop = true
    this.#waiting.get(id)?.resolve(event)
    this.#waiting.delete(id)
  }

  #end(error: Error): void {
    this.#over = error
    for (const one of this.#waiting.values()) one.reject(error)
    this.#waiting.clear()
  }
}
