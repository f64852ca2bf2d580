import {CliError} from '../base/index.ts'
import type {Trial} from '../protocol/index.ts'

/** So many failures before the first success, and it is not the parameters. */
const HOPELESS = 3

/**
 * The end of a sweep in which everything fails from the start; undefined: it may yet come to something. `over`: its
 * trials, in the order in which they ended, the first of them (`earlier`) under an earlier command. Pure.
 */
export function whyHopeless(over: readonly Trial[], earlier: number, sweep: string): CliError | undefined {
  const last = over.at(-1)
  const failures = over.length - earlier
  if (!last || failures < HOPELESS || over.some((one) => one.state !== 'failed')) return undefined
  return new CliError(
    'RUN_FAILED',
    `the first ${failures} trials of sweep ${sweep} all failed, the last one because ${last.why}`,
    {
      hint: `flexrack runs logs ${last.run}\nflexrack sweep show ${sweep}`,
      details: {sweep, run: last.run, trials: over.map((one) => one.run)},
    },
  )
}
