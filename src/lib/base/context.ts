import {CliError} from './error.ts'
import {silentReporter, type Reporter} from './reporter.ts'

/** What every long-running function of lib is given, besides its own input. */
export interface Context {
  reporter: Reporter
  /** Aborted by the first Ctrl-C: finish gracefully, release locks. */
  signal: AbortSignal
  /** Aborted by the second Ctrl-C: end now. */
  kill: AbortSignal
  env: NodeJS.ProcessEnv
}

/** Why `signal` was aborted, where nobody asked for the end: the terminal, or the reader of our output, has gone. What runs elsewhere is left alone. */
export class LeftAlone extends DOMException {
  constructor(message: string) {
    super(message, 'AbortError')
  }
}

/** The user asked for the end. */
export function isStopAsked({aborted, reason}: AbortSignal): boolean {
  return aborted && !(reason instanceof LeftAlone)
}

/** A context for tests and library use: silent, never aborted unless parts are given. */
export function makeContext(parts: Partial<Context> = {}): Context {
  const never = new AbortController().signal
  return {reporter: silentReporter, signal: never, kill: never, env: process.env, ...parts}
}

/** Throws INTERRUPTED if the signal was aborted. */
export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new CliError('INTERRUPTED', 'interrupted')
}
