import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class EndpointRemove extends BaseCommand {
  static override summary = 'end an endpoint, with its servers, files and token'
  static override description = 'Answers requests in flight first. The model stays in the registry.'
  static override examples = [
    '<%= config.bin %> endpoint remove digits',
    '<%= config.bin %> endpoint remove digits --yes',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {'dry-run': dryRunFlag, yes: yesFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointRemove)
    const [{endpointsOf}, {planText}, {confirm}, {CliError}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../cli/base/prompt.ts'),
      import('../../lib/base/index.ts'),
    ])
    const context = await this.context()
    const endpoints = await endpointsOf(await this.session(flags), context)
    const plan = await endpoints.planRemove(args.name)
    if (flags['dry-run']) return this.answer(plan, planText)
    const sure =
      flags.yes ||
      (await confirm({message: `Remove endpoint ${args.name} and stop its servers?`, flag: '--yes'}, context))
    if (!sure) throw new CliError('INTERRUPTED', 'nothing was removed')
    return this.answer(await endpoints.remove(args.name), ({name}) => `Removed endpoint ${name}.`)
  }
}
