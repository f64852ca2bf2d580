import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointAbort extends BaseCommand {
  static override summary = 'take the requests from the canary'
  static override description =
    'All requests go to the active release again at once, and the servers of the canary end when they have answered. No request is lost. Later rollbacks skip the release.'
  static override examples = [
    '<%= config.bin %> endpoint abort digits',
    '<%= config.bin %> endpoint abort digits --dry-run',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointAbort)
    const [{endpointsOf}, {changeText}, {planText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planDecision(args.name, 'abort'), planText)
    const {endpoint, changed} = await endpoints.decide(args.name, 'abort')
    return this.answer({command: 'abort' as const, changed, endpoint}, changeText)
  }
}
