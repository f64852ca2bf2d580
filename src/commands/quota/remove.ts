import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class QuotaRemove extends BaseCommand {
  static override summary = 'take a quota away'
  static override description = 'From here on nothing limits that user, team or project by itself; other quotas stay.'
  static override examples = ['<%= config.bin %> quota remove team:vision']
  static override args = {of: Args.string({required: true, description: 'as `quota list` shows it'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(QuotaRemove)
    const [context, {withRackHead}, {carryOutQuota, planQuota}, {quotaChangeText}, {planText}] = await Promise.all([
      this.context(),
      import('../../cli/base/rack-head.ts'),
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const session = await this.session(flags)
    const plan = planQuota('quota remove', session.rack.head.node, {of: args.of, limits: null})
    if (flags['dry-run']) return this.answer(plan, planText)
    return withRackHead(session, context, async (head) =>
      this.answer(await carryOutQuota(plan, head, context), quotaChangeText),
    )
  }
}
