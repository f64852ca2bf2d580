import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, excludeFlag, onFlag, projectFlag, rackFlag, skipFlag} from '../cli/base/flags.ts'
import {wordsOf} from '../cli/base/words.ts'

export default class Sweep extends BaseCommand {
  static override summary = 'search for the best parameters: many runs of the training command'
  static override description =
    'Runs the training of the manifest once for each trial, with values that Optuna chooses from `sweep.parameters`, several at a time, on free nodes and GPUs. ' +
    'It updates and checks the workspaces once, before the first trial. The state of the sweep is kept on the head node: Ctrl-C stops the running trials, and --resume continues, ' +
    'even after this command was killed. It finds trials that went on meanwhile, and starts none twice. ' +
    'With --detach a background process on this machine drives the sweep: you may close the terminal as soon as the first trial runs.'
  static override examples = [
    '<%= config.bin %> sweep',
    '<%= config.bin %> sweep --trials 50 --parallel 4',
    '<%= config.bin %> sweep --detach',
    '<%= config.bin %> sweep --dry-run',
    '<%= config.bin %> sweep --resume digits-sweep-k3x9a',
    '<%= config.bin %> sweep --resume latest --trials 100',
  ]
  static override strict = false
  static override args = {
    arguments: Args.string({description: 'after --: arguments for the script, before those of the trial'}),
  }
  static override flags = {
    trials: Flags.integer({
      char: 't',
      min: 1,
      description: 'total number of trials (default: sweep.trials of the manifest)',
    }),
    parallel: Flags.integer({
      char: 'j',
      min: 1,
      description: 'trials at the same time (default: sweep.parallel of the manifest)',
    }),
    resume: Flags.string({
      helpValue: 'SWEEP',
      description: 'continue this sweep: its id, the beginning of it, or latest',
    }),
    detach: Flags.boolean({
      char: 'd',
      description:
        'return as soon as the first trial runs; a background process on this machine goes on, even after a lost connection',
    }),
    skip: skipFlag,
    force: Flags.boolean({description: 'start despite errors found by the preflight'}),
    on: onFlag,
    exclude: excludeFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(Sweep)
    const [context, place] = [await this.context(), await this.projectSession(flags, {handedOn: flags.detach})]
    const [
      {planSweep, runSweep},
      {parseSkip},
      {detachedText, sweptText},
      {planText},
      {throwWithPreflight},
      {detachSweep, tellSweep},
    ] = await Promise.all([
      import('../lib/sweep/index.ts'),
      import('../lib/preflight/index.ts'),
      import('../cli/sweep/text.ts'),
      import('../cli/terminal/render.ts'),
      import('../cli/train/preflight-text.ts'),
      import('../cli/sweep/detach.ts'),
    ])
    const choice = {...flags, preflight: {skip: parseSkip(flags.skip), force: flags.force}, args: wordsOf(raw)}
    const plan = await planSweep(place, choice, context)
    if (flags['dry-run']) return this.answer(plan.plan, planText)
    const fail = (error: unknown): never => throwWithPreflight(error, this.jsonEnabled())
    if (flags.detach)
      return this.answer(
        await detachSweep(
          plan,
          place,
          {choice, where: flags, program: [process.execPath, ...process.execArgv, process.argv[1] ?? '']},
          context,
        ).catch(fail),
        detachedText,
      )
    return this.answer(await runSweep(plan, place, choice, tellSweep(plan, context), context).catch(fail), sweptText)
  }
}
