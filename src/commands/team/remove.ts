import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class TeamRemove extends PeopleCommand {
  static override summary = 'remove a team, and the roles that it gave'
  static override description = 'Its members stay users.'
  static override examples = ['<%= config.bin %> team remove vision', '<%= config.bin %> team remove vision --dry-run']
  static override args = {name: Args.string({required: true, description: 'name of the team'})}
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(TeamRemove)
    return this.remove(flags, 'team', args.name)
  }
}
