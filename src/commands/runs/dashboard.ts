import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {CliError} from '../../lib/base/index.ts'

export default class RunsDashboard extends BaseCommand {
  static override summary = "forward the dashboard of a run's Ray cluster to this machine"
  static override description =
    'For runs with `launcher: ray`, while they live. Prints an address of this machine and the token that the page asks for; the forward stays until Ctrl-C. Not in a job of Slurm.'
  static override examples = ['<%= config.bin %> runs dashboard', '<%= config.bin %> runs dashboard digits-k3x9a']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(RunsDashboard)
    const context = await this.context()
    const [{openRunSession}, {dashboardText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/dashboard-text.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const found = await runs.find(args.run)
    const {run} = found
    const dashboard = await runs.dashboard(found)
    this.follow({run, node: dashboard.node, url: dashboard.url, token: dashboard.token.reveal()}, dashboardText)
    const ended = new Promise<void>((resolve) =>
      context.signal.addEventListener('abort', () => resolve(), {once: true}),
    )
    if (!context.signal.aborted) await Promise.race([ended, dashboard.closed])
    const isLost = !context.signal.aborted
    await dashboard.close()
    if (isLost)
      throw new CliError('NODE_UNREACHABLE', `the connection to ${dashboard.node} was lost`, {
        hint: `flexrack runs dashboard ${run}`,
      })
  }
}
