import {setTimeout as pause} from 'node:timers/promises'
import {silentReporter, type Context} from '../../lib/base/index.ts'
import {paint} from '../terminal/print.ts'
import {oneLine, printable} from '../terminal/printable.ts'
import {screenLines, type TopView} from './screen.ts'
import {pressed, type Key, type TopAction, type TopState} from './state.ts'
import {FullTerminal} from './terminal.ts'

/** The second look comes sooner: only two tell what was done in between. Milliseconds. */
export const SOON = 500
/** A screen is drawn anew this often, so that its age is seen where nodes do not answer. Milliseconds. */
const REDRAW = 1000

/** What keys want done besides leaving and Ctrl-Z. */
export type SceneAction = Exclude<TopAction, {kind: 'quit' | 'suspend'}>

/** What is looked at again and again. */
export interface Scene<T> {
  look(context: Context): Promise<T>
  view(now: T, before: T | undefined, state: TopState): TopView
  /** Carries out what a key has asked for, and says in a sentence what came of it. */
  act?(action: SceneAction, terminal: FullTerminal, context: Context): Promise<string>
}

/** What a screen needs of its terminal. */
export type OpenTerminal = (onKey: (key: Key) => void, onResize: () => void) => FullTerminal

/**
 * Looks again and again, and does what keys say, until q or Ctrl-C. A later look that fails is told, and the last one stays.
 * Errors: those of the first look.
 */
export async function watchScene<T>(
  scene: Scene<T>,
  start: TopState,
  context: Context,
  terminal: OpenTerminal = (onKey, onResize) => new FullTerminal(onKey, onResize),
): Promise<void> {
  await new Screen(scene, start, context, terminal).run()
}

class Screen<T> {
  readonly #scene: Scene<T>
  readonly #loud: Context
  readonly #context: Context
  readonly #terminal: FullTerminal
  readonly #over = new AbortController()
  #now: T | undefined
  #view: TopView | undefined
  #state: TopState
  /** Why the last look failed. */
  #failure = ''
  #acting = false
  #wake = new AbortController()

  constructor(scene: Scene<T>, state: TopState, context: Context, terminal: OpenTerminal) {
    this.#scene = scene
    this.#state = state
    this.#loud = context
    this.#context = {...context, reporter: silentReporter}
    this.#terminal = terminal(
      (key) => this.#pressed(key),
      () => this.#draw(),
    )
  }

  async run(): Promise<void> {
    // With the progress of a command, as nothing is drawn yet and a node may be slow.
    this.#show(await this.#scene.look(this.#loud))
    const signal = AbortSignal.any([this.#context.signal, this.#over.signal])
    const gone = new Promise<void>((done) => signal.addEventListener('abort', () => done(), {once: true}))
    const redraw = setInterval(() => this.#draw(), REDRAW)
    this.#terminal.open()
    try {
      let wait = SOON
      while (!signal.aborted) {
        this.#draw()
        this.#wake = new AbortController()
        await pause(wait, undefined, {signal: AbortSignal.any([signal, this.#wake.signal])}).catch(() => {})
        wait = this.#state.interval * 1000
        // Who leaves does not wait for a node that is slow to answer.
        if (!signal.aborted && !this.#state.paused && !this.#acting) await Promise.race([this.#look(signal), gone])
      }
    } finally {
      clearInterval(redraw)
      this.#terminal.close()
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const context = {...this.#context, signal}
    try {
      this.#show(await this.#scene.look(context))
      if (this.#failure !== '' && this.#state.message === this.#failure) this.#say('')
      this.#failure = ''
    } catch (error) {
      if (signal.aborted) return
      this.#failure = oneLine((error as Error).message)
      this.#say(this.#failure)
    }
  }

  #show(now: T): void {
    this.#view = this.#scene.view(now, this.#now, this.#state)
    this.#now = now
  }

  #pressed(key: Key): void {
    if (!this.#view) return
    const {state, action} = pressed(this.#state, key, this.#view.panes)
    const isFaster = state.interval < this.#state.interval || (this.#state.paused && !state.paused)
    this.#state = state
    if (isFaster) this.#wake.abort()
    if (action?.kind === 'quit') this.#over.abort()
    else if (action && this.#acting) this.#say('wait: the last one is not done yet')
    else if (action) void this.#act(action)
    this.#draw()
  }

  async #act(action: Exclude<TopAction, {kind: 'quit'}>): Promise<void> {
    this.#acting = true
    if (action.kind === 'stop') this.#say(`stopping run ${action.run} …`)
    try {
      const context = {...this.#context, signal: AbortSignal.any([this.#context.signal, this.#over.signal])}
      if (action.kind === 'suspend') await this.#terminal.suspend(context.signal)
      else this.#say((await this.#scene.act?.(action, this.#terminal, context)) ?? '')
    } catch (error) {
      this.#say(oneLine((error as Error).message))
    } finally {
      this.#acting = false
      this.#wake.abort()
    }
  }

  #say(message: string): void {
    this.#state = {...this.#state, message}
    this.#draw()
  }

  #draw(): void {
    if (!this.#view || this.#terminal.isAside) return
    const lines = screenLines({...this.#view, state: this.#state}, this.#terminal.size, Date.now())
    this.#terminal.draw(lines.map((line) => printable(line, paint.level > 0)))
  }
}
