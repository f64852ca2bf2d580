import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsWatch extends BaseCommand {
  static override summary = 'watch a live run: steps, throughput, and what it uses'
  static override description =
    "On a terminal it draws a panel below the ranks' lines: step, steps and samples per second, the last metrics, time lost waiting for data, CPU, GPU, memory and network; " +
    'by rank, or by node for more than eight ranks. In a pipe it writes a line every few seconds, with --json one object per line. Ctrl-C stops watching; the run goes on.'
  static override examples = [
    '<%= config.bin %> runs watch',
    '<%= config.bin %> runs watch digits-k3x9a --no-logs --every 5',
    '<%= config.bin %> runs watch --json --every 10 > watch.jsonl',
  ]
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    every: Flags.string({
      description: 'seconds between updates, at least 0.5 (default: 2 on a terminal, 30 in a pipe)',
    }),
    logs: Flags.boolean({allowNo: true, default: true, description: "show the ranks' lines above the panel"}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(RunsWatch)
    const context = await this.context()
    const [{openRunSession}, {showRun}, {hasScreen}, {secondsOf}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/watch.ts'),
      import('../../cli/terminal/screen.ts'),
      import('../../cli/base/seconds.ts'),
    ])
    const json = this.jsonEnabled()
    const every = secondsOf(flags.every, {least: 0.5, flag: '--every'}) ?? (hasScreen() && !json ? 2 : 30)
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    await showRun({runs, run, every, logs: flags.logs, json}, context)
  }
}
