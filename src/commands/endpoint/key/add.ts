import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../../cli/base/flags.ts'

export default class EndpointKeyAdd extends BaseCommand {
  static override summary = 'make a key of one client for an endpoint'
  static override description =
    'The key opens predictions of this endpoint and nothing else, within its limits: what is over them is answered with 429 and Retry-After. It is shown once; the head keeps a hash. ' +
    "The head's metrics (/flexrack/v1/metrics) and `endpoint key list` tell clients apart."
  static override examples = [
    '<%= config.bin %> endpoint key add digits team-a',
    '<%= config.bin %> endpoint key add digits team-a --requests-per-second 20 --concurrency 4 --until 2027-01-31',
    '<%= config.bin %> endpoint key add digits ci --until 12h --json',
  ]
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint'}),
    client: Args.string({required: true, description: 'who gets it: letters, digits, dot, dash, underscore'}),
  }
  static override flags = {
    'requests-per-second': Flags.string({
      helpValue: 'N',
      description: 'on average; as many may come at once (default: any)',
    }),
    concurrency: Flags.string({helpValue: 'N', description: 'requests under way at once (default: any)'}),
    'tokens-per-minute': Flags.string({
      helpValue: 'N',
      description: "of OpenAI's API, prompts and completions together (default: any)",
    }),
    until: Flags.string({helpValue: 'TIME', description: 'when it ends: 12h, 90d, 2027-01-31', default: '90d'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointKeyAdd)
    const [{endpointsOf}, {keyText, limitOf, secondsUntil}, {planText}] = await Promise.all([
      import('../../../cli/endpoint/open.ts'),
      import('../../../cli/endpoint/keys.ts'),
      import('../../../cli/terminal/render.ts'),
    ])
    const rate = limitOf(flags['requests-per-second'], '--requests-per-second', false)
    const concurrency = limitOf(flags.concurrency, '--concurrency', true)
    const tokens = limitOf(flags['tokens-per-minute'], '--tokens-per-minute', true, 1e9)
    const input = {
      client: args.client,
      seconds: secondsUntil(flags.until),
      ...(rate !== undefined && {requestsPerSecond: rate}),
      ...(concurrency !== undefined && {concurrency}),
      ...(tokens !== undefined && {tokensPerMinute: tokens}),
    }
    const {keys} = await endpointsOf(await this.session(flags), await this.context())
    if (flags['dry-run']) return this.answer(await keys.planAdd(args.name, input), planText)
    const made = await keys.add(args.name, input)
    return this.answer({...made, key: made.key.reveal()}, keyText)
  }
}
