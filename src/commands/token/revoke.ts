import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class TokenRevoke extends PeopleCommand {
  static override summary = 'end a token at once'
  static override description = 'The next request with it is refused. Your own; an admin ends those of all.'
  static override examples = ['<%= config.bin %> token revoke h7Jx2mQwEr1s']
  static override args = {id: Args.string({required: true, description: 'as `token list` shows it'})}
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {
      args: {id},
      flags,
    } = await this.parse(TokenRevoke)
    const path = `tokens/${encodeURIComponent(id)}`
    const change: PeopleChange = {title: `End the token ${id}`, method: 'DELETE', path, body: null}
    return this.change(
      flags,
      'token revoke',
      change,
      () => ({id}),
      () => `Token ${id} opens nothing any more.`,
    )
  }
}
