import {Flags} from '@oclif/core'
import {rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'
import type {UserToken} from '../../lib/head/index.ts'

export default class TokenList extends HeadCommand {
  static override summary = 'tokens of users: what they open, when they were used, when they end'
  static override description =
    'Your own; an admin sees those of all. Secrets are shown once only, when a token is made.'
  static override examples = ['<%= config.bin %> token list', '<%= config.bin %> token list --user alice']
  static override flags = {
    user: Flags.string({helpValue: 'NAME', description: 'of this user only (admins)'}),
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(TokenList)
    const {tokensText} = await import('../../cli/people/text.ts')
    const query = flags.user === undefined ? '' : `?${new URLSearchParams({user: flags.user})}`
    return this.askHead(flags, async (head) => {
      const {tokens} = await head.request<{tokens: UserToken[]}>('GET', `/flexrack/v1/people/tokens${query}`)
      return this.answer(tokens, tokensText)
    })
  }
}
