import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointTop extends BaseCommand {
  static override summary = 'endpoints live: requests, errors, latencies, tokens, queues, GPUs'
  static override description =
    'A full screen of what endpoints, their releases, clients and servers do, each figure over the time since the look before. ' +
    'Keys choose, filter and sort; ? lists them. In a pipe, with --json or with --once, it looks twice, --interval apart, and ends.'
  static override examples = [
    '<%= config.bin %> endpoint top',
    '<%= config.bin %> endpoint top digits --sort p99',
    '<%= config.bin %> endpoint top --json --interval 10',
  ]
  static override strict = false
  static override args = {names: Args.string({description: 'only these endpoints'})}
  static override flags = {
    interval: Flags.string({helpValue: 'SECONDS', description: 'between two looks, at least 0.5', default: '2'}),
    sort: Flags.string({
      helpValue: 'COLUMN',
      description: 'what a table is sorted by, where it has that column',
      options: ['requests', 'errors', 'p50', 'p95', 'p99', 'tokens', 'first', 'waiting', 'gpu'],
    }),
    filter: Flags.string({helpValue: 'TEXT', description: 'only lines with this text'}),
    once: Flags.boolean({description: 'figures of one interval, then end'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {argv, flags} = await this.parse(EndpointTop)
    const {secondsOf} = await import('../../cli/base/seconds.ts')
    const interval = secondsOf(flags.interval, {least: 0.5, flag: '--interval'}) ?? 2
    const [{endpointsOf}, {watchLoad, loadOver, loadText}, {hasScreen}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/top/load.ts'),
      import('../../cli/terminal/screen.ts'),
    ])
    const context = await this.context()
    const endpoints = await endpointsOf(await this.session(flags), context, {looks: true})
    const look = await endpoints.load(argv as string[])
    if (!this.jsonEnabled() && !flags.once && hasScreen() && process.stdin.isTTY)
      return watchLoad(look, flags, interval, context)
    const width = process.stdout.isTTY ? process.stdout.columns : Infinity
    return this.answer(await loadOver(look, interval, context), (report) => loadText(report, flags, interval, width))
  }
}
