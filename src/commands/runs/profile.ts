import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsProfile extends BaseCommand {
  static override summary = 'show what a run that was started with train --profile spends its steps on'
  static override description =
    'Sums up the trace of each rank where it is: time of a step, what the GPU does not work, what is waited for data and for other ranks, and the operators and kernels with most time. ' +
    'With --open the trace of a rank comes here and is shown in a browser of this machine by speedscope, which needs no internet, until Ctrl-C. ' +
    "With --to the traces stay here, in the format of Chrome's tracing, which ui.perfetto.dev opens, too."
  static override examples = [
    '<%= config.bin %> runs profile',
    '<%= config.bin %> runs profile digits-k3x9a --rank 2 --top 30',
    '<%= config.bin %> runs profile --open --rank 2',
    '<%= config.bin %> runs profile --to traces',
  ]
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    rank: Flags.integer({min: 0, description: 'the operators of this rank, or its trace (default: the slowest one)'}),
    top: Flags.integer({min: 1, max: 40, default: 10, description: 'number of operators and kernels'}),
    open: Flags.boolean({description: 'open the trace of one rank in the browser', exclusive: ['to']}),
    port: Flags.integer({
      description: 'port of this machine for it (default: one that is free)',
      min: 1,
      max: 65535,
      dependsOn: ['open'],
    }),
    to: Flags.string({helpValue: 'FOLDER', description: 'bring the traces into this folder'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsProfile)
    const context = await this.context()
    const [{openRunSession}, {profileText}, {CliError}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/profile-text.ts'),
      import('../../lib/base/index.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const found = await runs.profile(await runs.find(args.run))
    if (flags.rank !== undefined && !found.ranks.some(({rank}) => rank === flags.rank)) {
      throw new CliError('NOT_FOUND', `run ${found.run} has no rank ${flags.rank}`, {
        hint: `its ranks are ${found.ranks.map(({rank}) => rank).join(', ')}`,
      })
    }
    const chosen =
      flags.rank === undefined ? found : {...found, ranks: found.ranks.filter(({rank}) => rank === flags.rank)}
    if (flags.open) {
      const [{openTrace}, {openBrowser}] = await Promise.all([
        import('../../cli/runs/open-trace.ts'),
        import('../../cli/head/ui.ts'),
      ])
      return openTrace(
        runs,
        chosen,
        {port: flags.port, browse: (url) => openBrowser(url, context)},
        (value, text) => this.follow(value, text),
        context,
      )
    }
    const traces = flags.to === undefined ? [] : await runs.bringTraces(chosen, flags.to)
    return this.answer({...found, traces}, () => profileText(found, {rank: flags.rank, top: flags.top, traces}))
  }
}
