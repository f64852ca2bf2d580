import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsList extends BaseCommand {
  static override summary = 'list runs, newest first'
  static override description =
    'Merges what the nodes and the tracking server know. Completes records that stayed open because the server was away.'
  static override examples = ['<%= config.bin %> runs list', '<%= config.bin %> runs list --all --json']
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'runs of every project'}),
    limit: Flags.integer({char: 'l', min: 1, default: 20, description: 'maximum number of runs to show'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RunsList)
    const [{openRunSession}, {runListText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/text.ts'),
    ])
    const runs = await openRunSession(flags, await this.context())
    return this.answer(await runs.list({all: flags.all, limit: flags.limit}), runListText)
  }
}
