import {Flags} from '@oclif/core'

/** Flags that mean the same thing in every command. */
export const rackFlag = Flags.string({
  char: 'r',
  helpValue: 'NAME',
  description: 'name or file of the rack',
  env: 'FLEXRACK_RACK',
  helpGroup: 'WHERE',
})
/** The same in commands that answer about several at once. */
export const racksFlag = Flags.string({
  char: 'r',
  helpValue: 'NAMES',
  description: 'name or file of the rack, several separated by commas, or all',
  env: 'FLEXRACK_RACK',
  helpGroup: 'WHERE',
})
export const projectFlag = Flags.string({
  char: 'C',
  helpValue: 'FOLDER',
  description: 'project folder (default: this one or the nearest above it)',
  env: 'FLEXRACK_PROJECT',
  helpGroup: 'WHERE',
})
export const onFlag = Flags.string({
  helpValue: 'NODES',
  description: 'nodes: names, globs, label=value, all; comma separated',
  helpGroup: 'WHERE',
})
export const excludeFlag = Flags.string({
  helpValue: 'NODES',
  description: 'nodes to leave out, named as with --on',
  helpGroup: 'WHERE',
})
export const dryRunFlag = Flags.boolean({description: 'print the plan and change nothing'})
export const yesFlag = Flags.boolean({char: 'y', description: 'do not ask'})
export const readyTimeoutFlag = Flags.integer({description: 'seconds a server may take to become ready', min: 1})
export const skipFlag = Flags.string({
  helpValue: 'CHECKS',
  description:
    'checks of the preflight to leave out, comma separated: clock, versions, limits, shm, disk, ports, rdma, gpus, leftovers, reach, bandwidth, or all',
})

export const watchEveryFlag = Flags.string({
  helpValue: 'SECONDS',
  description:
    'print the state of the run at this interval, as a line among the others (default: on a terminal one line that is redrawn)',
})
