import {Flags} from '@oclif/core'
import {excludeFlag, onFlag, skipFlag} from '../base/flags.ts'

/**
 * What a sweep is to be: how many trials, or which sweep goes on, and where. What one of its runs is to be is the
 * manifest's.
 */
export const sweepFlags = {
  trials: Flags.integer({
    char: 't',
    min: 1,
    description: 'total number of trials (default: sweep.trials of the manifest)',
  }),
  parallel: Flags.integer({
    char: 'j',
    min: 1,
    description: 'trials at the same time (default: sweep.parallel of the manifest)',
  }),
  resume: Flags.string({
    helpValue: 'SWEEP',
    description: 'continue this sweep: its id, the beginning of it, or latest',
  }),
  detach: Flags.boolean({
    char: 'd',
    description:
      'return as soon as the first trial runs; a background process on this machine goes on, even after a lost connection',
  }),
  skip: skipFlag,
  force: Flags.boolean({description: 'start despite errors found by the preflight'}),
  on: onFlag,
  exclude: excludeFlag,
}
