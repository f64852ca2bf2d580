import {CliError} from '../../lib/base/index.ts'

/** Past the first allocations and the caches that they fill; a trace of three steps is read in seconds. */
export const PROFILE_STEPS = '10:3'

/** `SKIP:STEPS`: at least two are skipped, as the profiler starts after the first and is warm after the second. Throws USAGE. */
export function parseProfileSteps(text: string): {skip: number; steps: number} {
  const found = /^(\d{1,9}):(\d{1,4})$/.exec(text)
  const [skip, steps] = [Number(found?.[1]), Number(found?.[2])]
  if (!(skip >= 2 && steps >= 1)) throw new CliError('USAGE', `--profile-steps ${text} is not SKIP:STEPS with at least 2 steps to skip and 1 to record`, {hint: `--profile-steps ${PROFILE_STEPS}`})
  return {skip, steps}
}
