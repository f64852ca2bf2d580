import {Command, Flags} from '@oclif/core'
import type {Context} from '../lib/base/index.ts'

/** What every command of flexrack has: --json, --debug, one context with Ctrl-C wired in, one place that shows errors. */
export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true
  static override baseFlags = {
    debug: Flags.boolean({description: 'show stack traces', helpGroup: 'GLOBAL'}),
  }

  #context: Context | undefined

  /** The context of this command; wires Ctrl-C on first use. */
  protected async context(): Promise<Context> {
    if (!this.#context) {
      const {openContext} = await import('./context.ts')
      this.#context = openContext({json: this.jsonEnabled()})
    }
    return this.#context
  }

  /** Prints the answer for people (not under --json) and returns the value for --json. `text` is a pure function of it. */
  protected answer<T>(value: T, text: (value: T) => string): T {
    if (!this.jsonEnabled()) {
      const lines = text(value)
      if (lines !== '') this.log(lines)
    }
    return value
  }
}
