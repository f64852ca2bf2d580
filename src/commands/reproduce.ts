import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag, watchEveryFlag, yesFlag} from '../cli/base/flags.ts'

export default class Reproduce extends BaseCommand {
  static override summary = 'train once more as a run was trained, and compare'
  static override description =
    'Takes the code, the command, the seeds and the data versions from the record of the run, says what differs from then (nodes, drivers, environment, versions, what was not kept), and asks. ' +
    'The code is checked out into a folder and a workspace of its own: neither your project nor a workspace that is in use is touched; both are removed again, unless --keep. ' +
    'Afterwards metrics are compared step by step, and outputs by hash: equal, within --tolerance, or different, with the first step that differs; then the exit status is 1.'
  static override examples = [
    '<%= config.bin %> reproduce digits-k3x9a --dry-run',
    '<%= config.bin %> reproduce digits-k3x9a --yes',
    '<%= config.bin %> reproduce digits-k3x9a --tolerance 1e-6 --metrics loss,test_accuracy',
  ]
  static override args = {run: Args.string({required: true, description: 'id of a tracked run'})}
  static override flags = {
    on: onFlag,
    tolerance: Flags.string({
      default: '0',
      description: 'relative difference of a metric that is still the same, such as 1e-6',
    }),
    metrics: Flags.string({description: 'metrics to compare, comma separated (default: all that the run logged)'}),
    keep: Flags.boolean({description: 'leave the code and the workspace there'}),
    'watch-every': watchEveryFlag,
    'dry-run': dryRunFlag,
    yes: yesFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(Reproduce)
    const [{reproduce}, {toleranceOf}] = await Promise.all([
      import('../cli/lineage/reproduce.ts'),
      import('../cli/lineage/tolerance.ts'),
    ])
    const input = {
      run: args.run,
      on: flags.on,
      tolerance: toleranceOf(flags.tolerance),
      metrics: flags.metrics?.split(',').map((one) => one.trim()),
      keep: flags.keep,
      yes: flags.yes,
      dryRun: flags['dry-run'],
      json: this.jsonEnabled(),
      watchEvery: flags['watch-every'],
    }
    return reproduce(input, await this.session(flags), await this.context(), (value, text) => this.answer(value, text))
  }
}
