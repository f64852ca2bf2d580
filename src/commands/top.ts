import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {projectFlag, rackFlag} from '../cli/base/flags.ts'

export default class Top extends BaseCommand {
  static override summary = 'the rack live: nodes, GPUs, runs, leases, endpoints'
  static override description =
    'A full screen that is looked up again every two seconds. Keys choose, filter and sort, show logs, stop a run and end a lease; ? lists them. ' +
    'In a pipe, or with --once, it writes one look and ends. With --json it writes one object per line until Ctrl-C.'
  static override examples = [
    '<%= config.bin %> top',
    '<%= config.bin %> top --sort memory --filter node-1',
    '<%= config.bin %> top --json --interval 10 >> rack.jsonl',
  ]
  static override flags = {
    interval: Flags.string({helpValue: 'SECONDS', description: 'between two looks, at least 0.5', default: '2'}),
    sort: Flags.string({
      helpValue: 'COLUMN',
      description: 'what a table is sorted by, where it has that column',
      options: ['cpu', 'memory', 'load', 'disk', 'busy', 'holders', 'time', 'ranks', 'used', 'owner', 'age'],
    }),
    filter: Flags.string({helpValue: 'TEXT', description: 'only lines with this text'}),
    once: Flags.boolean({description: 'one look, then end'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Top)
    const {secondsOf} = await import('../cli/base/seconds.ts')
    const interval = secondsOf(flags.interval, {least: 0.5, flag: '--interval'}) ?? 2
    const [session, context] = [await this.session(flags), await this.context()]
    const [{followRack, lookTwice, watchRack}, {startState}, {wholeText}, {hasScreen}] = await Promise.all([
      import('../cli/top/watch.ts'),
      import('../cli/top/state.ts'),
      import('../cli/top/screen.ts'),
      import('../cli/terminal/screen.ts'),
    ])
    const state = startState(flags, interval)
    if (this.jsonEnabled() && !flags.once)
      return followRack(session, interval, context, (one) => this.follow(one, String))
    if (flags.once || !hasScreen() || !process.stdin.isTTY) {
      const {now, view} = await lookTwice(session, state, context)
      if (now.nodes.some((node) => !node.ok)) process.exitCode = 8
      const width = process.stdout.isTTY ? process.stdout.columns : Infinity
      return this.answer(now, () => wholeText(view, width))
    }
    return watchRack(session, state, context)
  }
}
