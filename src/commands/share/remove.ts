import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ShareRemove extends BaseCommand {
  static override summary = 'take a shared folder back'
  static override description =
    'Connections of those who write into it end within a second. What they made there is yours.'
  static override examples = ['<%= config.bin %> share remove results bob', '<%= config.bin %> share remove results']
  static override args = {
    name: Args.string({required: true, description: 'name of the share'}),
    user: Args.string({description: 'account that it is shared with (default: all)'}),
  }
  static override flags = {
    node: Flags.string({description: 'node (default: the first)', helpGroup: 'WHERE'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ShareRemove)
    const [{openNodeShares}, {removedText}, {planText}] = await Promise.all([
      import('../../cli/share/open.ts'),
      import('../../cli/share/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const {shares} = await openNodeShares(flags, await this.context())
    const plan = shares.planRemove(args.name, args.user)
    if (flags['dry-run']) return this.answer(plan, planText)
    return this.answer(await shares.remove(plan), removedText)
  }
}
