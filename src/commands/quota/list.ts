import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class QuotaList extends HeadCommand {
  static override summary = 'show the quotas of the rack, and what of them is used by whom'
  static override description =
    'GPUs and runs are those that the head knows to have started: tracked runs on nodes that Slurm does not place. GPU hours are those of this month (UTC).'
  static override examples = ['<%= config.bin %> quota list', '<%= config.bin %> quota list --rack lab --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(QuotaList)
    const [{readQuotas}, {quotasText}] = await Promise.all([
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
    ])
    return this.askHead(flags, async (head, {rack}) => this.answer(await readQuotas(rack.name, head), quotasText))
  }
}
