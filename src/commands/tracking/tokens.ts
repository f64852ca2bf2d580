import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class TrackingTokens extends BaseCommand {
  static override summary = 'list personal tokens, or end them'
  static override description =
    'Shows the tokens that `tracking env` made, and when they end; their secrets are shown once only. --end ends some at once.'
  static override examples = [
    '<%= config.bin %> tracking tokens',
    '<%= config.bin %> tracking tokens --end h7Jx2mQwEr1s',
    '<%= config.bin %> tracking tokens --end all',
  ]
  static override flags = {
    end: Flags.string({
      helpValue: 'ID',
      description: 'token to end, or all; may be given several times',
      multiple: true,
    }),
    rack: rackFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(TrackingTokens)
    const [{withHead}, {endedText, tokensText}, {planText}, {carryOutPersonal, personalTokens, planEnding}] =
      await Promise.all([
        import('../../cli/tracking/open.ts'),
        import('../../cli/tracking/text.ts'),
        import('../../cli/terminal/render.ts'),
        import('../../lib/access/index.ts'),
      ])
    const context = await this.context()
    return withHead(flags, context, async (head, {rack}) => {
      const there = await personalTokens(head)
      if (flags.end === undefined) return this.answer(there, tokensText)
      const plan = planEnding(rack.head.node, there, flags.end)
      if (flags['dry-run']) return this.answer(plan, planText)
      const {ended} = await carryOutPersonal(plan, head, context)
      return this.answer(ended, endedText)
    })
  }
}
