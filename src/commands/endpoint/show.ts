import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointShow extends BaseCommand {
  static override summary = 'an endpoint with its address, servers and releases'
  static override description =
    'Shows how often each server was started again and how many requests it answered, which release a rollback would go to, and how to call the endpoint.'
  static override examples = [
    '<%= config.bin %> endpoint show digits',
    '<%= config.bin %> endpoint show digits --show-token',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    'show-token': Flags.boolean({description: 'show the token, which opens this endpoint and nothing else'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointShow)
    const [{endpointsOf}, {endpointShowText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/text.ts'),
    ])
    const endpoints = await endpointsOf(await this.session(flags), await this.context(), {looks: true})
    const details = await endpoints.show(args.name)
    const token = flags['show-token'] ? (await endpoints.token(args.name)).reveal() : undefined
    return this.answer({...details, ...(token && {token})}, endpointShowText)
  }
}
