import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ShareDecline extends BaseCommand {
  static override summary = 'decline a folder that another account shares with you, or give it back'
  static override description = 'The owner sees that it was declined; what the share allowed ends.'
  static override examples = ['<%= config.bin %> share decline alice/results']
  static override args = {share: Args.string({required: true, description: 'OWNER/NAME, as `share list` shows it'})}
  static override flags = {
    node: Flags.string({description: 'node (default: the first)', helpGroup: 'WHERE'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ShareDecline)
    const [{openNodeShares}, {repliedText}, {parseShareName}] = await Promise.all([
      import('../../cli/share/open.ts'),
      import('../../cli/share/text.ts'),
      import('../../lib/share/index.ts'),
    ])
    const share = parseShareName(args.share)
    const {shares, node} = await openNodeShares(flags, await this.context())
    return this.answer(await shares.reply(share, false), (replied) => repliedText(replied, node, undefined))
  }
}
