import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class SweepPlot extends BaseCommand {
  static override summary = 'draw a sweep: parallel coordinates as an SVG, and the values of its trials in the terminal'
  static override description =
    'Writes one SVG file: an axis for each parameter and one for the metric, and a line for each complete trial, coloured by the metric.'
  static override examples = [
    '<%= config.bin %> sweep plot',
    '<%= config.bin %> sweep plot digits-sweep-k3x9a --output trials.svg',
  ]
  static override args = {sweep: Args.string({description: 'sweep, or the beginning of its id (default: the newest)'})}
  static override flags = {
    output: Flags.string({
      char: 'o',
      helpValue: 'FILE',
      description: 'file to write (default: <sweep>.svg in this folder)',
    }),
    height: Flags.integer({min: 3, default: 12, description: 'rows of the drawing in the terminal'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(SweepPlot)
    const [context, {rack, fleet, manifest}] = [await this.context(), await this.session(flags)]
    const [{findSweep, writePlot}, {plottedText}] = await Promise.all([
      import('../../lib/sweep/index.ts'),
      import('../../cli/sweep/text.ts'),
    ])
    const sweep = await findSweep({rack, fleet, project: manifest?.name}, args.sweep, context)
    const size = {width: Math.min(process.stdout.columns ?? 80, 120), height: flags.height}
    return this.answer(await writePlot(sweep, flags.output ?? `${sweep.sweep}.svg`), (plotted) =>
      plottedText(plotted, sweep, size),
    )
  }
}
