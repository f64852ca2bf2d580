import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class RunsRemove extends BaseCommand {
  static override summary = 'delete a run: its files on the nodes, and its record'
  static override description =
    'The tracking server keeps a deleted record until it is purged there; models registered from the run stay.'
  static override examples = [
    '<%= config.bin %> runs remove digits-k3x9a',
    '<%= config.bin %> runs remove digits-k3x9a --yes',
  ]
  static override args = {run: Args.string({required: true, description: 'run, or the beginning of its id'})}
  static override flags = {yes: yesFlag, 'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsRemove)
    const context = await this.context()
    const [{openRunSession}, {confirm}, {CliError}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/base/prompt.ts'),
      import('../../lib/base/index.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(runs.planRemove(run), planText)
    }
    const sure =
      flags.yes ||
      (await confirm(
        {
          message: `Delete run ${run.run} on ${run.nodes.map((one) => one.node).join(', ')}, and its record?`,
          flag: '--yes',
        },
        context,
      ))
    if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
    return this.answer(
      await runs.remove(run),
      (removed) =>
        `Run ${removed.run} is deleted on ${removed.nodes.join(', ')}${removed.record ? ', and so is its record' : ''}.`,
    )
  }
}
