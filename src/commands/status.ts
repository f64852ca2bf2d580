import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {projectFlag, rackFlag} from '../cli/base/flags.ts'

export default class Status extends BaseCommand {
  static override summary = 'one screen: nodes, head, GPUs and leases, runs, endpoints'
  static override description =
    'Asks every node of the rack at once. A node that does not answer is shown with the reason, and the exit status is 8.'
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status --rack lab --json',
    'watch -n 5 <%= config.bin %> status',
  ]
  static override flags = {
    rack: rackFlag,
    project: projectFlag,
    limit: Flags.integer({description: 'runs to show', default: 8, min: 1}),
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Status)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{readOverview}, {statusText}] = await Promise.all([
      import('../lib/overview/index.ts'),
      import('../cli/status/text.ts'),
    ])
    const overview = await readOverview(session, flags.limit, context)
    if (overview.nodes.some((node) => !node.ok)) process.exitCode = 8
    return this.answer(overview, statusText)
  }
}
