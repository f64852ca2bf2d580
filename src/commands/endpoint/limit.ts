import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointLimit extends BaseCommand {
  static override summary = 'how many requests a model server gets at once, how many wait, and for how long'
  static override description =
    'What a server does not get waits at the gateway, where clients take turns: one that sends much does not hold up the others. So as few at once as keep a server busy are the fairest. ' +
    "Without a limit a server gets 64, one that speaks OpenAI's API 1024; 1000 wait, for 15 s. A full queue is answered with 429 and Retry-After, one who waited too long with 504. " +
    'A server that is silent with a request for 300 s ends it with 504. A caller that says its own deadline (x-envoy-expected-rq-timeout-ms, or grpc-timeout) waits for as long as that, and no longer.'
  static override examples = [
    '<%= config.bin %> endpoint limit digits --concurrency 8',
    '<%= config.bin %> endpoint limit digits --concurrency 8 --queue 200 --wait 30',
    '<%= config.bin %> endpoint limit novels --answer 1800',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    concurrency: Flags.integer({min: 1, max: 100_000, description: 'requests at one server at once'}),
    queue: Flags.integer({min: 0, max: 100_000, description: 'requests that wait at most'}),
    wait: Flags.integer({min: 0, max: 3600, description: 'seconds that a request waits at most'}),
    answer: Flags.integer({min: 1, max: 86_400, description: 'seconds that a server may be silent with a request'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointLimit)
    const [{endpointsOf}, {limitText, readLimits}, {planText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/limit.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const rules = readLimits(flags)
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await endpoints.planLimit(args.name, rules), planText)
    return this.answer(await endpoints.limit(args.name, rules), limitText)
  }
}
