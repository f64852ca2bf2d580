import {Flags} from '@oclif/core'

export const overwriteFlag = Flags.boolean({description: 'also replace what was edited or made on the nodes'})
