import {rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class UserList extends PeopleCommand {
  static override summary = "users of the rack's head"
  static override description =
    "An admin sees all, others themselves. Where nobody was added, the rack is of whoever may log in to the head's node."
  static override examples = ['<%= config.bin %> user list', '<%= config.bin %> user list --json']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(UserList)
    const {usersOf, usersText} = await import('../../cli/people/text.ts')
    return this.list(flags, usersOf, usersText)
  }
}
