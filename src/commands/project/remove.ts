import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class ProjectRemove extends PeopleCommand {
  static override summary = "take a project's roles away"
  static override description =
    "Its runs and models stay in MLflow's workspace of that name, which opens to nobody until the project is added again."
  static override examples = [
    '<%= config.bin %> project remove digits',
    '<%= config.bin %> project remove digits --dry-run',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the project'})}
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ProjectRemove)
    return this.remove(flags, 'project', args.name)
  }
}
