import type {Reporter} from '../../lib/base/index.ts'
import {openPlainReporter} from './plain.ts'
import {openTerminalReporter} from './live.ts'

/** A Reporter that knows how to step aside while something else uses the terminal. */
export interface ScreenReporter extends Reporter {
  /** Takes the progress off the screen while `use` runs (a prompt, a remote terminal), then puts it back. */
  suspend<T>(use: () => Promise<T>): Promise<T>
}

let current: ScreenReporter | undefined

/**
 * The reporter of this process: a live screen on a terminal, plain lines in a pipe, warnings only for `--json` in a
 * pipe. `stamped`: lines for a log, with the time of each.
 */
export function openReporter({json, stamped = false}: {json: boolean; stamped?: boolean}): ScreenReporter {
  const live = process.stderr.isTTY && process.env.TERM !== 'dumb' && !process.env.CI
  current = live ? openTerminalReporter() : openPlainReporter({quiet: json, stamped})
  return current
}

/** Runs `use` with the terminal to itself. */
export async function suspendProgress<T>(use: () => Promise<T>): Promise<T> {
  return current ? current.suspend(use) : use()
}
