import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class ProjectAdd extends PeopleCommand {
  static override summary = 'keep a project for those who have a role in it'
  static override description =
    "The name is the one in the project's flexrack.yaml. From now on its runs and models are in a workspace of MLflow of its own; those of before stay where they were, which admins reach. " +
    'For the first such project MLflow is started again, which takes some seconds; runs keep what they log meanwhile.'
  static override examples = ['<%= config.bin %> project add digits', '<%= config.bin %> project add digits --dry-run']
  static override args = {name: Args.string({required: true, description: 'small letters, digits and dashes'})}
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {
      args: {name},
      flags,
    } = await this.parse(ProjectAdd)
    const change: PeopleChange = {
      title: `Keep the project ${name} in a workspace of its own`,
      method: 'PUT',
      path: `projects/${encodeURIComponent(name)}`,
      body: {},
    }
    return this.change(
      flags,
      'project add',
      change,
      () => ({name}),
      () => `Project ${name} is open to admins only, so far: flexrack project grant ${name} user:NAME member`,
    )
  }
}
