import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {inputFlags} from '../../cli/endpoint/flags.ts'

export default class EndpointBench extends BaseCommand {
  static override summary = 'drive load at an endpoint, and measure its latency against the rate of requests'
  static override description =
    'Sends one request again and again in open loop: requests come when they come, whether or not earlier ones were answered, as users do. ' +
    'The rate doubles until the endpoint falls behind (more than 1 % fail, or answers come slower than requests), or is what --rates says. ' +
    "It goes to the endpoint's own address, or through SSH where this machine does not reach that; the answer says which. The servers get this load beside that of their users."
  static override examples = [
    '<%= config.bin %> endpoint bench digits --input digits.npy',
    '<%= config.bin %> endpoint bench digits --input digits.npy --rates 50,100,200 --seconds 30 --plot digits.svg',
    `<%= config.bin %> endpoint bench chat --data '{"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 16, "stream": true}'`,
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    ...inputFlags,
    rates: Flags.string({helpValue: '50,100', description: 'requests a second, one after the other'}),
    seconds: Flags.integer({min: 1, max: 3600, default: 5, description: 'how long each rate is held'}),
    timeout: Flags.integer({min: 1, default: 30, description: 'seconds after which a request has failed'}),
    'in-flight': Flags.integer({min: 1, max: 10_000, default: 512, description: 'requests under way at most'}),
    plot: Flags.string({helpValue: 'FILE', description: 'also draw it: an SVG'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointBench)
    const [{endpointsOf}, {readInput}, {benchText, readRates, savePlot}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/input.ts'),
      import('../../cli/endpoint/bench.ts'),
    ])
    const rates = readRates(flags.rates)
    const input = await readInput(flags)
    const context = await this.context()
    const endpoints = await endpointsOf(await this.session(flags), context)
    const {seconds, timeout, 'in-flight': most} = flags
    const report = await endpoints.bench({...input, name: args.name, rates, seconds, timeout, most})
    if (flags.plot !== undefined) await savePlot(flags.plot, report, context)
    return this.answer(report, benchText)
  }
}
