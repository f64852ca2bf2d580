import {BaseCommand} from '../cli/base/command.ts'
import {rackFlag} from '../cli/base/flags.ts'

export default class Logout extends BaseCommand {
  static override summary = "end this machine's login to a rack"
  static override description = 'The token ends at the head, and is forgotten here.'
  static override examples = ['<%= config.bin %> logout', '<%= config.bin %> logout --rack lab']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Logout)
    const [{rack, fleet}, {logOut}] = await Promise.all([this.session(flags), import('../lib/people/index.ts')])
    return this.answer({rack: rack.name, ...(await logOut(rack, fleet, await this.context()))}, ({user}) =>
      user === null
        ? `Nobody was logged in to rack ${rack.name} from here.`
        : `${user} is logged out of rack ${rack.name}.`,
    )
  }
}
