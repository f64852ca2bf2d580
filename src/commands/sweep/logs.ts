import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag} from '../../cli/base/flags.ts'

export default class SweepLogs extends BaseCommand {
  static override summary = "show the output of a sweep's background process"
  static override description =
    'For sweeps started on this machine with --detach. With --follow it goes on until that process has ended; Ctrl-C only stops following. `runs logs` shows the output of trials.'
  static override examples = ['<%= config.bin %> sweep logs -f', '<%= config.bin %> sweep logs digits-sweep-k3x9a']
  static override args = {sweep: Args.string({description: 'sweep, or the beginning of its id (default: the newest)'})}
  static override flags = {
    follow: Flags.boolean({char: 'f', description: 'follow until the process has ended'}),
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(SweepLogs)
    const context = await this.context()
    const [{followLog}, {chooseBackground}] = await Promise.all([
      import('../../lib/background/index.ts'),
      import('../../cli/sweep/logs.ts'),
    ])
    const name = await chooseBackground(args.sweep, flags.project, context)
    await followLog(
      name,
      {
        follow: flags.follow,
        onLines: (lines) => lines.forEach((line) => this.follow({sweep: name, line}, (one) => one.line)),
      },
      context,
    )
  }
}
