import {Flags} from '@oclif/core'
import {CliError} from '../../lib/base/index.ts'

/** Past the first allocations and the caches that they fill; a trace of three steps is read in seconds. */
export const PROFILE_STEPS = '10:3'

/**
 * `SKIP:STEPS`: at least two are skipped, as the profiler starts after the first and is warm after the second. Throws
 * USAGE.
 */
export function parseProfileSteps(text: string): {skip: number; steps: number} {
  const found = /^(\d{1,9}):(\d{1,4})$/.exec(text)
  const [skip, steps] = [Number(found?.[1]), Number(found?.[2])]
  if (!(skip >= 2 && steps >= 1))
    throw new CliError(
      'USAGE',
      `--profile-steps ${text} is not SKIP:STEPS with at least 2 steps to skip and 1 to record`,
      {hint: `--profile-steps ${PROFILE_STEPS}`},
    )
  return {skip, steps}
}

export const profileFlags = {
  profile: Flags.boolean({
    description: 'record some steps of each rank with torch.profiler: flexrack runs profile sums them up',
  }),
  'profile-steps': Flags.string({
    helpValue: 'SKIP:STEPS',
    dependsOn: ['profile'],
    description: `which ones: STEPS of them after SKIP others, whose last warms the profiler up (default: ${PROFILE_STEPS})`,
  }),
}

/** Undefined: no profile is wanted. Throws USAGE. */
export function profileChoice(flags: {
  profile: boolean
  'profile-steps'?: string | undefined
}): {skip: number; steps: number} | undefined {
  return flags.profile ? parseProfileSteps(flags['profile-steps'] ?? PROFILE_STEPS) : undefined
}
