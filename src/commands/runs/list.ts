import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import type {Session} from '../../cli/base/session.ts'
import type {Context} from '../../lib/base/index.ts'
import {projectFlag, racksFlag} from '../../cli/base/flags.ts'

export default class RunsList extends BaseCommand {
  static override summary = 'list runs, newest first'
  static override description =
    'Merges what the nodes and the tracking server know. Completes records that stayed open because the server was away.'
  static override examples = [
    '<%= config.bin %> runs list',
    '<%= config.bin %> runs list --all --json',
    '<%= config.bin %> runs list --rack lab,cloud',
  ]
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'runs of every project'}),
    limit: Flags.integer({char: 'l', min: 1, default: 20, description: 'maximum number of runs to show'}),
    rack: racksFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RunsList)
    const [{runsOf}, {runListText, runsOfRacksText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/list-text.ts'),
    ])
    const wanted = {all: flags.all, limit: flags.limit}
    const list = async (session: Session, context: Context) => (await runsOf(session, context)).list(wanted)
    return this.answerOfRacks(flags, list, runListText, (answers) => runsOfRacksText(answers, flags.limit))
  }
}
