import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class GpuRelease extends BaseCommand {
  static override summary = 'end leases: take GPUs back from their holders'
  static override description =
    'Programs that use these GPUs get errors from then on. Asks first if a program is using them.'
  static override examples = ['<%= config.bin %> gpu release 3f9a', '<%= config.bin %> gpu release 3f9a 77b0 --yes']
  static override strict = false
  static override args = {
    lease: Args.string({description: 'ids, or their beginnings, as `gpu leases` shows them', required: true}),
  }
  static override flags = {'dry-run': dryRunFlag, yes: yesFlag, rack: rackFlag}

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuRelease)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpusOf}, {leasesText, releasedText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
    ])
    const gpus = await gpusOf(session, context)
    const leases = await gpus.find(wordsOf(raw))
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(gpus.planRelease(leases), planText)
    }
    if (leases.some((one) => one.programs > 0) && !flags.yes) {
      const [{confirm}, {CliError}] = await Promise.all([
        import('../../cli/base/prompt.ts'),
        import('../../lib/base/index.ts'),
      ])
      const sure = await confirm(
        {
          message: `${leasesText({leases, nodes: []})}\nEnd ${leases.length === 1 ? 'it' : 'them'} although programs are using the GPUs?`,
          flag: '--yes',
        },
        context,
      )
      if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
    }
    return this.answer(await gpus.release(leases), releasedText)
  }
}
