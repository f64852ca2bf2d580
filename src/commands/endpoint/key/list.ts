import {Args} from '@oclif/core'
import {BaseCommand} from '../../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../../cli/base/flags.ts'

export default class EndpointKeyList extends BaseCommand {
  static override summary = 'who has a key for an endpoint, and how much it is used'
  static override description = "Requests are counted since the head's start; the keys themselves are shown once only."
  static override examples = ['<%= config.bin %> endpoint key list digits']
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointKeyList)
    const [{endpointsOf}, {keysText}] = await Promise.all([
      import('../../../cli/endpoint/open.ts'),
      import('../../../cli/endpoint/keys.ts'),
    ])
    const {keys} = await endpointsOf(await this.session(flags), await this.context())
    return this.answer(await keys.list(args.name), keysText)
  }
}
