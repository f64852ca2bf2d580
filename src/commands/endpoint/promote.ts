import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointPromote extends BaseCommand {
  static override summary = 'send all requests to the canary'
  static override description =
    'The release beside the active one becomes the active one, and the servers of the release before it end when they have answered. No request is lost. Later: endpoint rollback goes back.'
  static override examples = [
    '<%= config.bin %> endpoint promote digits',
    '<%= config.bin %> endpoint promote digits --dry-run',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointPromote)
    const [{endpointsOf}, {changeText}, {planText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planDecision(args.name, 'promote'), planText)
    const {endpoint, changed} = await endpoints.decide(args.name, 'promote')
    return this.answer({command: 'promote' as const, changed, endpoint}, changeText)
  }
}
