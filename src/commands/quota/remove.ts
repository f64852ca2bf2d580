import {Args} from '@oclif/core'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class QuotaRemove extends HeadCommand {
  static override summary = 'take a quota away'
  static override description = 'From here on nothing limits that user, team or project by itself; other quotas stay.'
  static override examples = ['<%= config.bin %> quota remove team:vision']
  static override args = {of: Args.string({required: true, description: 'as `quota list` shows it'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(QuotaRemove)
    const [{carryOutQuota, planQuota}, {quotaChangeText}] = await Promise.all([
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
    ])
    return this.changeHead(
      flags,
      (node) => planQuota('quota remove', node, {of: args.of, limits: null}),
      carryOutQuota,
      quotaChangeText,
    )
  }
}
