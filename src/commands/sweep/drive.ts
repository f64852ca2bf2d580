import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class SweepDrive extends BaseCommand {
  static override hidden = true
  static override summary = 'drive a sweep without a terminal: what `sweep --detach` starts'
  static override description = 'Only the command that starts it tells it what to do.'
  static override examples = ['<%= config.bin %> sweep --detach']
  static override args = {
    sweep: Args.string({description: 'the sweep, for those who look at processes', required: true}),
  }
  static override flags = {rack: rackFlag, project: projectFlag}
  protected override readonly isBackground = true

  async run(): Promise<void> {
    const {flags} = await this.parse(SweepDrive)
    const {driveInBackground} = await import('../../cli/sweep/detach.ts')
    await driveInBackground(() => this.projectSession(flags), await this.context())
  }
}
