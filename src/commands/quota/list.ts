import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class QuotaList extends BaseCommand {
  static override summary = 'show the quotas of the rack, and what of them is used by whom'
  static override description =
    'GPUs and runs are those that the head knows to have started: tracked runs on nodes that Slurm does not place. GPU hours are those of this month (UTC). Notebooks, endpoints, model servers and data on nodes are those that commands told the head of since there are quotas; what runs keep on a node is what a supervisor or `runs remove` saw there last; artifacts of runs and models at the head it measures itself, every five minutes. Where Slurm places jobs, also its own limits and fair share for your account there, as sacctmgr and sshare tell them: Slurm alone keeps to those.'
  static override examples = ['<%= config.bin %> quota list', '<%= config.bin %> quota list --rack lab --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(QuotaList)
    const [{readQuotas}, {quotasText}] = await Promise.all([
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
    ])
    const [session, context] = [await this.session(flags), await this.context()]
    return this.answer(await readQuotas(session, context), quotasText)
  }
}
