import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class SweepStop extends BaseCommand {
  static override summary = 'stop a sweep and its running trials'
  static override description =
    'The process that drives the sweep stops its trials and ends; if there is none any more, the runs that it left are stopped. A background process on this machine (`sweep --detach`) is gone afterwards. `sweep --resume` continues from there.'
  static override examples = ['<%= config.bin %> sweep stop', '<%= config.bin %> sweep stop digits-sweep-k3x9a']
  static override args = {sweep: Args.string({description: 'sweep, or the beginning of its id (default: the newest)'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(SweepStop)
    const [context, {rack, fleet, manifest}] = [await this.context(), await this.session(flags)]
    const [{stopSweep}, {stoppedSweepText}] = await Promise.all([
      import('../../lib/sweep/index.ts'),
      import('../../cli/sweep/text.ts'),
    ])
    return this.answer(await stopSweep({rack, fleet, project: manifest?.name}, args.sweep, context), stoppedSweepText)
  }
}
