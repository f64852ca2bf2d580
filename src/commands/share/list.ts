import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ShareList extends BaseCommand {
  static override summary = 'list folders that you share, and those that others share with you'
  static override description =
    'Names who an invitation is for, whether it was accepted, and when it ends. `waiting`: it was accepted, and the door for writing opens in a moment.'
  static override examples = ['<%= config.bin %> share list', '<%= config.bin %> share list --node gpu-2 --json']
  static override flags = {
    node: Flags.string({description: 'node (default: the first)', helpGroup: 'WHERE'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(ShareList)
    const [{openNodeShares}, {sharesText}] = await Promise.all([
      import('../../cli/share/open.ts'),
      import('../../cli/share/text.ts'),
    ])
    const {shares} = await openNodeShares(flags, await this.context())
    return this.answer(await shares.list(), sharesText)
  }
}
