import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class UserRemove extends PeopleCommand {
  static override summary = 'take a user out; their tokens end at once'
  static override description =
    'What they did stays, with their name. Roles and teams are gone, also for another user of the same name.'
  static override examples = ['<%= config.bin %> user remove alice', '<%= config.bin %> user remove alice --dry-run']
  static override args = {name: Args.string({required: true, description: 'name of the user'})}
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(UserRemove)
    return this.remove(flags, 'user', args.name)
  }
}
