import {Args, Flags} from '@oclif/core'
import {rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class HeadIdentityCommand extends HeadCommand {
  static override summary = 'the identity providers that the head logs people in by: show, set, remove'
  static override description =
    'Shows the OpenID Connect provider and the LDAP directory of `login --oidc` and `login --ldap`, and whether they answer. With a FILE (JSON, docs/people.md) the head asks the providers in it first, and takes them only where a login could begin. ' +
    'Secrets are kept at the head (0600) and are not shown. Takes an admin.'
  static override examples = [
    '<%= config.bin %> head identity',
    '<%= config.bin %> head identity login.json',
    '<%= config.bin %> head identity - < login.json',
    '<%= config.bin %> head identity --remove',
  ]
  static override args = {file: Args.string({description: 'the providers to use from now on; - reads stdin'})}
  static override flags = {
    remove: Flags.boolean({description: 'nobody but SSH keys and tokens logs in; tokens that were given stay'}),
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(HeadIdentityCommand)
    const {identityAt, identityText} = await import('../../cli/people/identity.ts')
    return this.askHead(flags, async (head) =>
      this.answer(await identityAt(head, args.file, flags.remove), identityText),
    )
  }
}
