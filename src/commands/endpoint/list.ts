import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointList extends BaseCommand {
  static override summary = 'endpoints of the rack and what they serve'
  static override description = 'Also cleans up what an interrupted deploy left behind.'
  static override examples = ['<%= config.bin %> endpoint list', '<%= config.bin %> endpoint list --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(EndpointList)
    const [{endpointsOf}, {endpointListText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context(), {looks: true})
    return this.answer(await endpoints.list(), endpointListText)
  }
}
