import {Flags} from '@oclif/core'

export const overwriteFlag = Flags.boolean({description: 'also replace what was edited or made on the nodes'})

export const atFlag = Flags.string({
  helpValue: 'TIME|ID',
  description: 'as it was then: 2h (ago), 14:30, "2026-03-01 14:30", or the id of a snapshot',
  exclusive: ['run'],
})
export const runFlag = Flags.string({helpValue: 'RUN', description: 'what this run ran'})
