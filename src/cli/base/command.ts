import {Command, Flags} from '@oclif/core'
import type {Context} from '../../lib/base/index.ts'
import {colorLevel} from '../terminal/color.ts'
import {jsonText, printable} from '../terminal/printable.ts'
import type {OfRack} from './racks.ts'
import type {ProjectSession, Session, SessionFlags} from './session.ts'

/**
 * What every command of flexrack has: --json, --debug, one context with Ctrl-C wired in, and its closing at the end.
 */
export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true
  static override baseFlags = {
    json: Flags.boolean({description: 'answer as JSON', helpGroup: 'GLOBAL'}),
    debug: Flags.boolean({description: 'show stack traces', helpGroup: 'GLOBAL'}),
  }

  /** Runs in the background, see src/lib/background. */
  protected readonly isBackground: boolean = false
  #context: Context | undefined

  /** The context of this command; wires Ctrl-C on first use. */
  protected async context(): Promise<Context> {
    if (!this.#context) {
      const {openContext} = await import('./context.ts')
      this.#context = openContext({json: this.jsonEnabled(), background: this.isBackground})
    }
    return this.#context
  }

  /** Rack, fleet and, where there is one, the manifest. Closed when the command ends. */
  protected async session(flags: SessionFlags): Promise<Session> {
    const {openSession} = await import('./session.ts')
    return openSession(flags, await this.context())
  }

  /**
   * What `ask` gets of the rack that --rack names, or of each where it names several (racksFlag): see askRacks. Of one
   * rack its errors are thrown.
   */
  protected async eachRack<T>(
    flags: SessionFlags,
    ask: (session: Session, context: Context) => Promise<T>,
  ): Promise<{isSeveral: boolean; answers: OfRack<T>[]}> {
    const [names, context] = [await this.racksNamed(flags.rack), await this.context()]
    if (names) {
      const {askRacks} = await import('./racks.ts')
      return {isSeveral: true, answers: await askRacks(names, flags, context, (session) => ask(session, context))}
    }
    const session = await this.session(flags)
    return {
      isSeveral: false,
      answers: [{rack: session.rack.name, ok: true, answer: await ask(session, context)}],
    }
  }

  /** Answers with that: of one rack what it told, of several the list. */
  protected async answerOfRacks<T>(
    flags: SessionFlags,
    ask: (session: Session, context: Context) => Promise<T>,
    text: (answer: T) => string,
    listText: (answers: OfRack<T>[]) => string,
  ): Promise<T | OfRack<T>[]> {
    const {isSeveral, answers} = await this.eachRack(flags, ask)
    const [first] = answers
    return isSeveral || !first?.ok ? this.answer(answers, listText) : this.answer(first.answer, text)
  }

  /** The racks that --rack names, where it names several; see severalRacks. */
  protected async racksNamed(flag: string | undefined): Promise<string[] | undefined> {
    if (flag !== 'all' && !flag?.includes(',')) return undefined
    const {severalRacks} = await import('./racks.ts')
    return severalRacks(flag, await this.context())
  }

  /**
   * The same for commands that need a manifest. `handedOn`: its work will be a process's in the background, which can
   * ask nobody for a passphrase.
   */
  protected async projectSession(
    flags: SessionFlags,
    {handedOn = false}: {handedOn?: boolean} = {},
  ): Promise<ProjectSession> {
    const {openProjectSession} = await import('./session.ts')
    return openProjectSession(flags, await this.context(), {handedOn})
  }

  /**
   * Prints the answer for people (not under --json) and returns the value for --json. `text` is a pure function of it.
   */
  protected answer<T>(value: T, text: (value: T) => string): T {
    if (!this.jsonEnabled()) {
      const lines = printable(text(value), colorLevel(process.stdout, process.env) > 0)
      if (lines !== '') process.stdout.write(lines.endsWith('\n') ? lines : `${lines}\n`)
    }
    return value
  }

  /**
   * For commands that follow something: under --json one object a line, else the text. Such commands return undefined.
   */
  protected follow<T>(value: T, text: (value: T) => string): void {
    const line = this.jsonEnabled()
      ? jsonText(value)
      : printable(text(value), colorLevel(process.stdout, process.env) > 0)
    process.stdout.write(`${line}\n`)
  }

  /** Errors are shown in one place, src/cli/errors.ts, for people and under --json alike. */
  protected override async catch(error: unknown): Promise<never> {
    if (!(error instanceof Error) || !('oclif' in error || 'parse' in error)) throw error
    const {usageError} = await import('../errors/usage.ts')
    throw usageError(error, this.id) ?? error
  }

  protected override async finally(): Promise<void> {
    if (!this.#context) return
    const {closeContext} = await import('./context.ts')
    await closeContext(this.#context)
  }

  /** oclif prints a result only if it is truthy; 0, '' and false are answers too. undefined is none: see `follow`. */
  protected override async _run<T>(): Promise<T> {
    const result = await super._run<T>()
    if (!result && result !== undefined && this.jsonEnabled()) this.logJson(result)
    return result
  }

  override logJson(json: unknown): void {
    process.stdout.write(`${jsonText(json, 2)}\n`)
  }
}
