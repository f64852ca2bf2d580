import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsWait extends BaseCommand {
  static override summary = 'wait until a run is over'
  static override description =
    'Exits with 0 if the run succeeded, and with 6 if it failed or was stopped, whoever started it.'
  static override examples = ['<%= config.bin %> runs wait', '<%= config.bin %> runs wait digits-k3x9a --timeout 3600']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    timeout: Flags.integer({min: 0, description: 'maximum seconds to wait; then it exits with 9, and the run goes on'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsWait)
    const context = await this.context()
    const [{openRunSession}, {failureOf}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../lib/runs/index.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    const progress = context.reporter.begin(`Wait for run ${run.run}`)
    const {result} = await runs.wait(run, flags.timeout).finally(() => progress.done())
    if (result?.status === 'finished') return this.answer({run: run.run, ...result}, () => `Run ${run.run} finished.`)
    throw failureOf(run.run, {cause: result?.cause ?? null, stopped: result?.status === 'stopped'})
  }
}
