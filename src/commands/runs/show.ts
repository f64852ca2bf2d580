import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsShow extends BaseCommand {
  static override summary = 'show everything about a run'
  static override description =
    'Shows command, commit, parameters, last metrics, artifacts, every rank with its exit, and the first cause of a failure; ' +
    'also samples or tokens per second, time lost waiting for data, GPU hours and mean use, and how well it scales against a run on one node.'
  static override examples = ['<%= config.bin %> runs show', '<%= config.bin %> runs show digits-k3x9a --json']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    against: Flags.string({
      helpValue: 'RUN',
      description: 'run to compare its scaling with (default: the newest with the same command on one node)',
    }),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsShow)
    const [{openRunSession}, {shownRunText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/text.ts'),
    ])
    const runs = await openRunSession(flags, await this.context())
    return this.answer(await runs.show(args.run, {against: flags.against}), shownRunText)
  }
}
