import {rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class TeamList extends PeopleCommand {
  static override summary = "teams of the rack's users"
  static override description =
    'Members that an admin has put in, and those whose groups at their provider mean the team.'
  static override examples = ['<%= config.bin %> team list', '<%= config.bin %> team list --json']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(TeamList)
    const {teamsOf, teamsText} = await import('../../cli/people/text.ts')
    return this.list(flags, teamsOf, teamsText)
  }
}
