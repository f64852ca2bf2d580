import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class HeadStatusCommand extends BaseCommand {
  static override summary = "the state of the rack's head"
  static override description =
    'Shows where the head runs, its address for nodes, the state of MLflow behind it, where runs and artifacts are stored, and how much room is left.'
  static override examples = ['<%= config.bin %> head status', '<%= config.bin %> head status --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(HeadStatusCommand)
    const {rack, fleet} = await this.session(flags)
    const [{headStatus}, {headText}] = await Promise.all([
      import('../../lib/head/index.ts'),
      import('../../cli/head/text.ts'),
    ])
    return this.answer(await headStatus(rack, fleet, await this.context()), headText)
  }
}
