import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsPlot extends BaseCommand {
  static override summary = 'draw a metric of a run in the terminal'
  static override description =
    'Draws every logged value over its step. A single word that is no run is a metric of the newest run. With --json it answers the values themselves.'
  static override examples = [
    '<%= config.bin %> runs plot',
    '<%= config.bin %> runs plot loss',
    '<%= config.bin %> runs plot digits-k3x9a loss',
    '<%= config.bin %> runs plot digits-k3x9a loss --json',
  ]
  static override args = {
    run: Args.string({description: 'run, or the beginning of its id (default: the newest)'}),
    metric: Args.string({description: 'metric (default: the first one)'}),
  }
  static override flags = {
    height: Flags.integer({min: 3, default: 12, description: 'rows of the drawing'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsPlot)
    const [{openRunSession}, {chartText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/chart.ts'),
    ])
    const runs = await openRunSession(flags, await this.context())
    const size = {width: Math.min(process.stdout.columns ?? 80, 120), height: flags.height}
    return this.answer(await runs.history(args.run, args.metric), ({run, metric, values}) =>
      chartText(`${metric} of ${run}`, values, size),
    )
  }
}
