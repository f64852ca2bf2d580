import {rackFlag} from '../cli/base/flags.ts'
import {HeadCommand} from '../cli/base/head-command.ts'
import type {WhoAmI as WhoAmIAnswer} from '../lib/head/index.ts'

export default class WhoAmI extends HeadCommand {
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
    return this.askHead(flags, async (head, {rack}) => {
      const me = await head.request<WhoAmIAnswer>('GET', '/flexrack/v1/whoami')
      return this.answer({rack: rack.name, ...me, accounts: accountsLine(rack)}, whoText)
    })
  }
}
