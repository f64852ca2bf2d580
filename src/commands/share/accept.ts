import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ShareAccept extends BaseCommand {
  static override summary = 'accept a folder that another account shares with you'
  static override description =
    'A folder to read is then at ~/.flexrack/shared/OWNER/NAME on the node. One to write is reached by sftp, scp and rsync, with your key: a public key of this machine is handed over for that.'
  static override examples = [
    '<%= config.bin %> share accept alice/results',
    '<%= config.bin %> share accept alice/paper --key ~/.ssh/id_ed25519.pub',
  ]
  static override args = {share: Args.string({required: true, description: 'OWNER/NAME, as `share list` shows it'})}
  static override flags = {
    key: Flags.string({
      helpValue: 'FILE',
      description: 'public key, for a folder to write (default: the first of ~/.ssh/id_*.pub)',
    }),
    node: Flags.string({description: 'node (default: the first)', helpGroup: 'WHERE'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ShareAccept)
    const [{openNodeShares}, {repliedText}, {parseShareName, readPublicKey}] = await Promise.all([
      import('../../cli/share/open.ts'),
      import('../../cli/share/text.ts'),
      import('../../lib/share/index.ts'),
    ])
    const [share, key] = [parseShareName(args.share), await readPublicKey(flags.key)]
    const {shares, node} = await openNodeShares(flags, await this.context())
    return this.answer(await shares.reply(share, true, key?.key), (replied) => repliedText(replied, node, key?.file))
  }
}
