import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsRepair extends BaseCommand {
  static override summary = 'resend what the tracking server has not taken'
  static override description =
    'What a run logs stays on its nodes until the tracking server has it. What the server refused, or failed to store (a full artifact store), ' +
    "stays there with the server's answer. This command sends it once more, with your own rights. `runs show` names it."
  static override examples = ['<%= config.bin %> runs repair digits-k3x9a', '<%= config.bin %> runs repair --dry-run']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsRepair)
    const context = await this.context()
    const [{openRunSession}, {repairedText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/unsent-text.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(await runs.planRepair(run), planText)
    }
    return this.answer(await runs.repair(run), repairedText)
  }
}
