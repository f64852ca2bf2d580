import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {rackFlag} from '../cli/base/flags.ts'

export default class Login extends BaseCommand {
  static override summary = "log in to a rack's head, as a user of its"
  static override description =
    'Proves with an SSH key who you are; the head gives a token, which is kept here (0600) and used by every command until it ends. With --oidc or --ldap a provider says who you are, and with --token-stdin a token that `token create` made. ' +
    'A rack without users needs no login: whoever may log in to the node of the head is its admin.'
  static override examples = [
    '<%= config.bin %> login --user alice --invitation fr1.eyJhZGRyZXNz...',
    '<%= config.bin %> login --user alice --key ~/.ssh/id_ed25519 --for 8h',
    '<%= config.bin %> login --token-stdin < token',
  ]
  static override flags = {
    user: Flags.string({helpValue: 'NAME', description: 'who you are to the rack (default: your name here)'}),
    key: Flags.string({
      helpValue: 'FILE',
      description: 'SSH key, or the .pub of one that your agent has (default: the first of ~/.ssh/id_*.pub)',
    }),
    oidc: Flags.boolean({
      description: "log in at the rack's identity provider, in a browser on any machine",
      exclusive: ['user', 'key', 'ldap'],
    }),
    ldap: Flags.boolean({
      description: "with the password of the rack's directory, which is asked for",
      exclusive: ['key'],
    }),
    'token-stdin': Flags.boolean({
      description: 'read a token from stdin',
      exclusive: ['user', 'key', 'for', 'oidc', 'ldap'],
    }),
    'password-stdin': Flags.boolean({description: 'with --ldap: read the password from stdin', dependsOn: ['ldap']}),
    invitation: Flags.string({description: 'where the head is and what it is known by, as `user add` says; once'}),
    for: Flags.string({helpValue: 'TIME', description: 'when the login ends: 8h, 7d, at most 90d', default: '30d'}),
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Login)
    const [{logInHere}, {whoText}, {tokenSeconds}] = await Promise.all([
      import('../cli/people/login.ts'),
      import('../cli/people/text.ts'),
      import('../cli/tracking/length.ts'),
    ])
    const login = {...flags, seconds: tokenSeconds(flags.for)}
    return this.answer(await logInHere(login, await this.session(flags), await this.context()), whoText)
  }
}
