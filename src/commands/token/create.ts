import {Flags} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {MadeToken} from '../../lib/head/index.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class TokenCreate extends PeopleCommand {
  static override summary = 'make a token for a program, or for somebody to log in with'
  static override description =
    'It is worth what its user is worth, or less: one project, or a lower role. It ends by itself, after 90 days at the latest, and `token revoke` ends it at once. The secret is shown this once.'
  static override examples = [
    '<%= config.bin %> token create --note ci --only digits --role viewer --for 30d',
    '<%= config.bin %> token create --user bob --for 1h',
  ]
  static override flags = {
    note: Flags.string({description: 'what it is for', default: ''}),
    only: Flags.string({helpValue: 'PROJECT', description: 'opens this project and nothing else'}),
    role: Flags.string({description: 'the most that it may', options: ['viewer', 'member', 'maintainer']}),
    for: Flags.string({helpValue: 'TIME', description: 'when it ends: 8h, 7d, at most 90d', default: '30d'}),
    user: Flags.string({helpValue: 'NAME', description: 'for this user (admins; default: yourself)'}),
    rack: rackFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(TokenCreate)
    const [{tokenSeconds}, {madeText}] = await Promise.all([
      import('../../cli/tracking/length.ts'),
      import('../../cli/people/text.ts'),
    ])
    const {note, only: project, role, user} = flags
    const opens = [project && `project ${project}`, role && `as ${role} at most`].filter(Boolean).join(', ')
    const change: PeopleChange = {
      title: `Make a token${user ? ` for ${user}` : ''}${opens ? ` (${opens})` : ''} that ends after ${flags.for}`,
      method: 'POST',
      path: 'tokens',
      body: {note, project, role, user, ttl_seconds: tokenSeconds(flags.for)},
    }
    return this.change(flags, 'token create', change, (made) => made as MadeToken, madeText)
  }
}
