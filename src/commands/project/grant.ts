import {Args} from '@oclif/core'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {PeopleCommand} from '../../cli/people/command.ts'
import type {PeopleChange} from '../../lib/people/index.ts'

export default class ProjectGrant extends PeopleCommand {
  static override summary = 'give a user, a team or everyone a role in a project'
  static override description =
    'viewer: sees runs, models and files. member: also starts runs, registers models, and writes to and deletes their own runs. maintainer: also those of others, deletes models, and gives roles. none: takes a role away. Everyone can be a viewer at most.'
  static override examples = [
    '<%= config.bin %> project grant digits user:alice member',
    '<%= config.bin %> project grant digits team:vision maintainer',
    '<%= config.bin %> project grant digits everyone none',
  ]
  static override args = {
    project: Args.string({required: true, description: 'name of the project'}),
    to: Args.string({required: true, description: 'user:NAME, team:NAME, or everyone'}),
    role: Args.string({required: true, description: 'role', options: ['viewer', 'member', 'maintainer', 'none']}),
  }
  static override flags = {rack: rackFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {
      args: {project, to, role},
      flags,
    } = await this.parse(ProjectGrant)
    const change: PeopleChange = {
      title: role === 'none' ? `Take from ${to} the role in ${project}` : `Make ${to} ${role} of project ${project}`,
      method: 'PUT',
      path: `projects/${encodeURIComponent(project)}/roles`,
      body: {to, role: role === 'none' ? null : role},
    }
    const text = (): string =>
      role === 'none' ? `${to} has no role in ${project}.` : `${to} is ${role} of ${project}.`
    return this.change(flags, 'project grant', change, () => ({project, to, role}), text)
  }
}
