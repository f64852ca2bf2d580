import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, readyTimeoutFlag} from '../../cli/base/flags.ts'

export default class EndpointScale extends BaseCommand {
  static override summary = 'run more or fewer model servers of the active release'
  static override description =
    "New servers take requests once they are ready; servers that leave finish the requests they have. All run on the release's nodes; for other nodes: endpoint deploy NAME --on NODES --force."
  static override examples = ['<%= config.bin %> endpoint scale digits 3']
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint'}),
    replicas: Args.integer({required: true, min: 1, max: 100, description: 'number of model servers'}),
  }
  static override flags = {
    timeout: readyTimeoutFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointScale)
    const [{endpointsOf}, {changeText}, {planText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planScale(args.name, args.replicas), planText)
    const {endpoint, changed} = await endpoints.scale(args.name, args.replicas, flags.timeout)
    return this.answer({command: 'scale' as const, changed, endpoint}, changeText)
  }
}
