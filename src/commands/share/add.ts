import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ShareAdd extends BaseCommand {
  static override summary = 'invite another account of a node to a folder of yours'
  static override description =
    'With --read the other account may read it, by access control lists, also what is made there later. With --write it comes in through SSH as you, with a key that opens this folder alone, in a sandbox: ' +
    'so everything there stays yours. The invitation is accepted or declined; `share remove` takes it back at once, and --until does so by itself.'
  static override examples = [
    '<%= config.bin %> share add ~/results bob --read',
    '<%= config.bin %> share add ~/paper bob --write --until 7d',
    '<%= config.bin %> share add /data/mine bob --write --key bob.pub',
  ]
  static override args = {
    folder: Args.string({required: true, description: 'on the node: an absolute path, or ~/PATH'}),
    user: Args.string({required: true, description: 'account on the node'}),
  }
  static override flags = {
    read: Flags.boolean({description: 'to read (the default)', exclusive: ['write']}),
    write: Flags.boolean({description: 'to read and write'}),
    until: Flags.string({helpValue: 'TIME', description: 'when it ends: 8h, 7d, or a date'}),
    name: Flags.string({description: 'name of the share (default: the last part of the folder)'}),
    key: Flags.string({
      helpValue: 'FILE',
      dependsOn: ['write'],
      description: "the other's public key (default: the one they accept with)",
    }),
    node: Flags.string({description: 'node (default: the first)', helpGroup: 'WHERE'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ShareAdd)
    const context = await this.context()
    const [{openNodeShares}, {addedText}, {planText}, {readPublicKey, shareEnd}] = await Promise.all([
      import('../../cli/share/open.ts'),
      import('../../cli/share/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/share/index.ts'),
    ])
    const [until, key] = [
      flags.until === undefined ? undefined : shareEnd(flags.until),
      flags.key === undefined ? undefined : await readPublicKey(flags.key),
    ]
    const {shares} = await openNodeShares(flags, context)
    const plan = shares.planAdd({
      folder: args.folder,
      user: args.user,
      access: flags.write ? 'write' : 'read',
      name: flags.name,
      until,
      key: key?.key,
    })
    if (flags['dry-run']) return this.answer(plan, planText)
    return this.answer(await shares.add(plan), addedText)
  }
}
