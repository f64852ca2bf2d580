import {Args} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../cli/base/flags.ts'
import {wordsOf} from '../cli/base/words.ts'
import {sweepFlags} from '../cli/sweep/flags.ts'

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
    ...sweepFlags,
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
