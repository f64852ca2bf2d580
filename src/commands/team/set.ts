import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class TeamSet extends PeopleCommand {
  static override summary = 'make a team, or say who is in it'
  static override description =
    'The users that are named are in the team, and no others that an admin put in. Who is in it by their groups at a provider stays so until their next login.'
  static override examples = ['<%= config.bin %> team set vision alice bob', '<%= config.bin %> team set vision']
  static override strict = false
  static override args = {
    name: Args.string({required: true, description: 'name of the team'}),
    users: Args.string({description: 'its users, none or several'}),
  }
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {argv, flags} = await this.parse(TeamSet)
    const [name = '', ...members] = argv as string[]
    const change: PeopleChange = {
      title: `Make ${members.length === 0 ? 'nobody' : members.join(', ')} the team ${name}`,
      method: 'PUT',
      path: `teams/${encodeURIComponent(name)}`,
      body: {members},
    }
    return this.change(
      flags,
      'team set',
      change,
      () => ({name, members}),
      () => `Team ${name}: ${members.length === 0 ? 'nobody' : members.join(', ')}.`,
    )
  }
}
