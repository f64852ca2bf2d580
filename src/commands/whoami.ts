import {rackFlag} from '../cli/base/flags.ts'
import {PeopleCommand} from '../cli/people/command.ts'

export default class WhoAmI extends PeopleCommand {
  static override summary = 'who you are to a rack, and what you may there'
  static override description =
    'Asks the head whose token this machine has, and says in one line what of it nodes do not enforce: there the account counts.'
  static override examples = ['<%= config.bin %> whoami', '<%= config.bin %> whoami --rack lab --json']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WhoAmI)
    const [{accountsLine}, {whoText}] = await Promise.all([
      import('../cli/people/accounts.ts'),
      import('../cli/people/text.ts'),
    ])
    return this.ask(flags, async (head, {rack}) => {
      const me = await head.request<never>('GET', '/flexrack/v1/whoami')
      return this.answer({rack: rack.name, ...(me as object), accounts: accountsLine(rack)} as never, whoText)
    })
  }
}
