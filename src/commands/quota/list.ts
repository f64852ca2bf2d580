import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class QuotaList extends BaseCommand {
  static override summary = 'show the quotas of the rack, and what of them is used by whom'
  static override description =
    'GPUs and runs are those that the head knows to have started: tracked runs on nodes that Slurm does not place. GPU hours are those of this month (UTC).'
  static override examples = ['<%= config.bin %> quota list', '<%= config.bin %> quota list --rack lab --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(QuotaList)
    const [context, {withRackHead}, {readQuotas}, {quotasText}] = await Promise.all([
      this.context(),
      import('../../cli/base/rack-head.ts'),
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
    ])
    return withRackHead(await this.session(flags), context, async (head, {rack}) =>
      this.answer(await readQuotas(rack.name, head), quotasText),
    )
  }
}
