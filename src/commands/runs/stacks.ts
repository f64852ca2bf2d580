import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsStacks extends BaseCommand {
  static override summary = 'show where the ranks of a live run are right now'
  static override description =
    'Takes the Python stacks of all ranks at the same moment, without stopping them. Ranks at the same place are shown once. ' +
    'A Python rank writes its stacks itself (faulthandler), even in a deadlock; for other ranks py-spy is used where it is installed.'
  static override examples = [
    '<%= config.bin %> runs stacks',
    '<%= config.bin %> runs stacks digits-k3x9a --rank 2 --json',
  ]
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    rank: Flags.integer({min: 0, description: 'only this rank'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsStacks)
    const context = await this.context()
    const [{openRunSession}, {stacksText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/hang-text.ts'),
    ])
    const runs = await openRunSession(flags, context)
    return this.answer(await runs.stacks(await runs.find(args.run), flags.rank), stacksText)
  }
}
