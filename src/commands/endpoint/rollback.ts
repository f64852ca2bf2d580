import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, readyTimeoutFlag} from '../../cli/base/flags.ts'

export default class EndpointRollback extends BaseCommand {
  static override summary = 'go back to the last good release before this one'
  static override description =
    'Starts that release again, waits until it is ready, and switches the gateway. Later rollbacks skip the release that this one leaves.'
  static override examples = [
    '<%= config.bin %> endpoint rollback digits',
    '<%= config.bin %> endpoint rollback digits --dry-run',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    timeout: readyTimeoutFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointRollback)
    const [{endpointsOf}, {changeText}, {planText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planRollback(args.name), planText)
    const {endpoint, changed} = await endpoints.rollback(args.name, flags.timeout)
    return this.answer({command: 'rollback' as const, changed, endpoint}, changeText)
  }
}
