import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, yesFlag} from '../../cli/base/flags.ts'
import {localDownText} from '../../cli/local/text.ts'

export default class LocalDown extends BaseCommand {
  static override summary = 'stop the rack on this machine'
  static override description =
    "Stops the SSH servers of the local rack and everything that was started on its nodes. Keeps the nodes' homes for the next `local up`, unless --purge is given."
  static override examples = ['<%= config.bin %> local down', '<%= config.bin %> local down --purge --yes']
  static override flags = {
    purge: Flags.boolean({default: false, description: "also remove the nodes' homes, keys and environments"}),
    grace: Flags.integer({default: 10, min: 0, description: 'seconds between SIGTERM and SIGKILL'}),
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(LocalDown)
    const ctx = await this.context()
    const {localDown, planLocalDown} = await import('../../lib/local/index.ts')
    const input = {purge: flags.purge, grace: flags.grace}
    const plan = await planLocalDown(input, ctx)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(plan, planText)
    }
    if (plan.steps.some((step) => step.kind === 'local.purge') && !flags.yes) {
      const {confirm} = await import('../../cli/base/prompt.ts')
      const {CliError} = await import('../../lib/base/index.ts')
      const sure = await confirm(
        {message: 'Remove the homes of the local nodes with everything in them?', flag: '--yes'},
        ctx,
      )
      if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
    }
    return this.answer(await localDown(input, ctx), localDownText)
  }
}
