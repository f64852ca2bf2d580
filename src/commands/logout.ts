import {BaseCommand} from '../cli/base/command.ts'
import {rackFlag} from '../cli/base/flags.ts'
import {openSession} from '../cli/base/session.ts'

export default class Logout extends BaseCommand {
  static override summary = "end this machine's login to a rack"
  static override description = 'The token ends at the head, and is forgotten here.'
  static override examples = ['<%= config.bin %> logout', '<%= config.bin %> logout --rack lab']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Logout)
    const context = await this.context()
    const [{rack, fleet}, {logOut}] = await Promise.all([
      openSession({rack: flags.rack}, context),
      import('../lib/people/index.ts'),
    ])
    return this.answer({rack: rack.name, ...(await logOut(rack, fleet, context))}, ({user}) =>
      user === null
        ? `Nobody was logged in to rack ${rack.name} from here.`
        : `${user} is logged out of rack ${rack.name}.`,
    )
  }
}
