import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {readReplicas, scalingFlags} from '../../cli/endpoint/scaling-flags.ts'
import {dryRunFlag, projectFlag, rackFlag, readyTimeoutFlag} from '../../cli/base/flags.ts'

export default class EndpointScale extends BaseCommand {
  static override summary = 'run more or fewer model servers of the active release, or let the head choose'
  static override description =
    "New servers take requests once they are ready; servers that leave finish the requests they have. With a range the head starts and ends servers by itself, as requests come and go, and from 0 a request that finds none waits for the first. All run on the release's nodes; for other nodes: endpoint deploy NAME --on NODES --force."
  static override examples = [
    '<%= config.bin %> endpoint scale digits 3',
    '<%= config.bin %> endpoint scale digits 0..4 --target 8 --idle 600',
  ]
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint'}),
    replicas: Args.string({required: true, description: 'number of model servers, or a range: 1..4, 0..4'}),
  }
  static override flags = {
    ...scalingFlags,
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
    const replicas = readReplicas(args.replicas, flags) ?? {replicas: 1}
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planScale(args.name, replicas), planText)
    const {endpoint, changed} = await endpoints.scale(args.name, replicas, flags.timeout)
    return this.answer({command: 'scale' as const, changed, endpoint}, changeText)
  }
}
