import {Args} from '@oclif/core'
import {BaseCommand} from '../../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../../cli/base/flags.ts'

export default class EndpointKeyRevoke extends BaseCommand {
  static override summary = 'end the key of a client at once'
  static override description = 'Requests that are under way with it end too, streams in their middle.'
  static override examples = ['<%= config.bin %> endpoint key revoke digits team-a']
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint'}),
    client: Args.string({required: true, description: 'whose key'}),
  }
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointKeyRevoke)
    const [{endpointsOf}, {revokedText}, {planText}] = await Promise.all([
      import('../../../cli/endpoint/open.ts'),
      import('../../../cli/endpoint/keys.ts'),
      import('../../../cli/terminal/render.ts'),
    ])
    const {keys} = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await keys.planRevoke(args.name, [args.client]), planText)
    return this.answer(await keys.revoke(args.name, [args.client]), revokedText)
  }
}
