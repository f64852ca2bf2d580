import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag, watchEveryFlag} from '../../cli/base/flags.ts'

export default class RunsLogs extends BaseCommand {
  static override summary = "show the output of a run's ranks"
  static override description =
    "Merges the lines of all ranks, each rank's in order. With --follow it goes on until the run is over; it reconnects after a lost connection, and loses and repeats nothing. " +
    'With --json one object per line: {node, rank, attempt, offset, text}.'
  static override examples = ['<%= config.bin %> runs logs -f', '<%= config.bin %> runs logs digits-k3x9a --rank 0']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    follow: Flags.boolean({char: 'f', description: 'follow until the run is over'}),
    rank: Flags.integer({min: 0, description: 'only this rank'}),
    node: Flags.string({multiple: true, description: 'only this node'}),
    'all-attempts': Flags.boolean({description: 'include the attempts before the newest'}),
    'watch-every': watchEveryFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(RunsLogs)
    const context = await this.context()
    const [{openRunSession}, {followRun}, {linePrinter, newsTeller}, {openStatusLine}, {secondsOf}] = await Promise.all(
      [
        import('../../cli/runs/open.ts'),
        import('../../lib/runs/index.ts'),
        import('../../cli/runs/follow.ts'),
        import('../../cli/runs/watch.ts'),
        import('../../cli/base/seconds.ts'),
      ],
    )
    const every = secondsOf(flags['watch-every'], {least: 0.5, flag: '--watch-every'})
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    const json = this.jsonEnabled()
    const closeStatus = flags.follow ? await openStatusLine({runs, run, every, json}, context) : undefined
    await followRun(
      runs.place,
      run,
      {
        follow: flags.follow,
        newest: !flags['all-attempts'],
        rank: flags.rank,
        nodes: flags.node,
        signal: context.signal,
        onLines: linePrinter(json),
        ...(flags.follow && {onNews: newsTeller(context)}),
      },
      context,
    ).finally(() => closeStatus?.())
  }
}
