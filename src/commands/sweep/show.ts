import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class SweepShow extends BaseCommand {
  static override summary = 'show a sweep: its trials, the best one, and which parameters matter'
  static override description =
    'Once the sweep is over, it also shows how much each parameter matters: its importance by PED-ANOVA.'
  static override examples = ['<%= config.bin %> sweep show', '<%= config.bin %> sweep show digits-sweep-k3x9a --json']
  static override args = {sweep: Args.string({description: 'sweep, or the beginning of its id (default: the newest)'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(SweepShow)
    const [context, {rack, fleet, manifest}] = [await this.context(), await this.session(flags)]
    const [{findSweep}, {sweepText}, {throwWithDrivers}] = await Promise.all([
      import('../../lib/sweep/index.ts'),
      import('../../cli/sweep/text.ts'),
      import('../../cli/sweep/unreached.ts'),
    ])
    const project = manifest?.name
    const sweep = await findSweep({rack, fleet, project}, args.sweep, context).catch((error: unknown) =>
      throwWithDrivers(error, {project, name: args.sweep}, context),
    )
    return this.answer(sweep, sweepText)
  }
}
