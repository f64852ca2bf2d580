import {rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'

export default class ProjectList extends PeopleCommand {
  static override summary = 'projects that users have roles in'
  static override description =
    'Runs and models of such a project are in a workspace of MLflow of its own. Those of other projects are kept together, and admins reach them.'
  static override examples = ['<%= config.bin %> project list', '<%= config.bin %> project list --json']
  static override flags = {rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(ProjectList)
    const {projectsOf, projectsText} = await import('../../cli/people/text.ts')
    return this.list(flags, projectsOf, projectsText)
  }
}
