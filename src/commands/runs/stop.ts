import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsStop extends BaseCommand {
  static override summary = 'stop a run on all of its nodes'
  static override description =
    'Sends SIGTERM to every rank, waits for the grace time, sends SIGKILL, and checks on every node that nothing is left. Nodes that do not answer are named; once they answer, the same command says what is left there.'
  static override examples = [
    '<%= config.bin %> runs stop',
    '<%= config.bin %> runs stop digits-k3x9a --grace 60',
    '<%= config.bin %> runs stop digits-k3x9a --kill',
  ]
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {
    grace: Flags.integer({
      min: 0,
      description: 'seconds between SIGTERM and SIGKILL (default: train.grace of the manifest that started the run)',
    }),
    kill: Flags.boolean({description: 'send SIGKILL at once', exclusive: ['grace']}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsStop)
    const context = await this.context()
    const [{openRunSession}, {stopRun}, {stoppedText}, {planText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../lib/runs/index.ts'),
      import('../../cli/runs/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const run = await runs.find(args.run)
    const how = {grace: flags.grace, kill: flags.kill}
    if (flags['dry-run']) return this.answer(runs.planStop(run, how), planText)
    const progress = context.reporter.begin(`Stop run ${run.run}`)
    try {
      const stopped = await stopRun(runs.place, run, how, context)
      progress.done(`Run ${run.run} has ended`)
      return this.answer(stopped, stoppedText)
    } catch (error) {
      progress.fail()
      throw error
    }
  }
}
