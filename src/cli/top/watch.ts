import {setTimeout as pause} from 'node:timers/promises'
import {silentReporter, type Context} from '../../lib/base/index.ts'
import {readOverview, type Overview} from '../../lib/overview/index.ts'
import {repeatLooks} from '../base/repeat.ts'
import type {Session} from '../base/session.ts'
import {paint} from '../terminal/print.ts'
import {printable} from '../terminal/printable.ts'
import {panesOf} from './panes.ts'
import {screenLines, type TopView} from './screen.ts'
import {pressed, type Key, type TopAction, type TopState} from './state.ts'
import {FullTerminal} from './terminal.ts'

/** Runs that are looked for at each look: all that go on, and the newest others. */
const MOST_RUNS = 50
/** The second look comes sooner: only two tell how busy processors are. Milliseconds. */
const SOON = 500
/** A screen is drawn anew this often, so that its age is seen where nodes do not answer. Milliseconds. */
const REDRAW = 1000

/** Looks again and again, and does what keys say, until q or Ctrl-C. Errors: those of the first look. */
export async function watchRack(session: Session, start: TopState, context: Context): Promise<void> {
  await new Screen(session, start, context).run()
}

/** Two looks at the rack, so far apart that it is known how busy processors are. */
export async function lookTwice(session: Session, state: TopState, context: Context): Promise<TopView> {
  const before = await readOverview(session, MOST_RUNS, context)
  await pause(SOON, undefined, {signal: context.signal}).catch(() => {})
  return viewOf(await readOverview(session, MOST_RUNS, {...context, reporter: silentReporter}), before, state)
}

/** Tells every look until Ctrl-C. */
export async function followRack(
  session: Session,
  interval: number,
  context: Context,
  tell: (overview: Overview) => void,
): Promise<void> {
  const quiet = {...context, reporter: silentReporter}
  const look = (): Promise<Overview> => readOverview(session, MOST_RUNS, quiet)
  await repeatLooks({seconds: interval, look, tell}, context).catch((error: unknown) => {
    if (!context.signal.aborted) throw error
  })
}

function viewOf(now: Overview, before: Overview | undefined, state: TopState): TopView {
  const at = Date.now()
  return {now, before, panes: panesOf(now, before, at), state, at}
}

class Screen {
  readonly #session: Session
  readonly #loud: Context
  readonly #context: Context
  readonly #terminal: FullTerminal
  readonly #over = new AbortController()
  #view: TopView | undefined
  #state: TopState
  #acting = false
  #wake = new AbortController()

  constructor(session: Session, state: TopState, context: Context) {
    this.#session = session
    this.#state = state
    this.#loud = context
    this.#context = {...context, reporter: silentReporter}
    this.#terminal = new FullTerminal(
      (key) => this.#pressed(key),
      () => this.#draw(),
    )
  }

  async run(): Promise<void> {
    // With the progress of a command, as nothing is drawn yet and a node may be slow.
    this.#view = viewOf(await readOverview(this.#session, MOST_RUNS, this.#loud), undefined, this.#state)
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
    const now = await readOverview(this.#session, MOST_RUNS, context).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (now) this.#view = viewOf(now, this.#view?.now, this.#state)
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
      const {carryOut} = await import('./actions.ts')
      const context = {...this.#context, signal: AbortSignal.any([this.#context.signal, this.#over.signal])}
      this.#say(await carryOut(action, {session: this.#session, terminal: this.#terminal, context}))
    } catch (error) {
      this.#say((error as Error).message.replaceAll('\n', ' '))
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
