import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, watchEveryFlag} from '../cli/base/flags.ts'
import {wordsOf} from '../cli/base/words.ts'
import {trainFlags} from '../cli/train/flags.ts'
import {profileChoice, profileFlags} from '../cli/train/profile-steps.ts'

export default class Train extends BaseCommand {
  static override summary = 'train on the nodes of the rack'
  static override description =
    'Syncs the project to the nodes, checks the nodes and the links between them (preflight), starts the ranks on all of them as one gang, and shows their merged output. ' +
    'Ctrl-C stops the run gracefully, a second Ctrl-C at once; the exit status is 130, and nodes that could not be reached are named. If this command ends in any other way, the run goes on. ' +
    'The run first reserves its nodes, all or none: their GPUs, and with --exclusive the whole nodes. ' +
    'One failing rank ends the run everywhere, and the first cause is shown.'
  static override examples = [
    '<%= config.bin %> train',
    '<%= config.bin %> train --nodes 2 --processes-per-node 4 -- --epochs 20',
    '<%= config.bin %> train --nodes 2 --processes-per-node 4 --gpus 1 --exclude old-* --dry-run',
    '<%= config.bin %> train --detach',
    '<%= config.bin %> train --exclusive --wait --timeout 3600',
    '<%= config.bin %> train --dry-run',
    '<%= config.bin %> train --skip bandwidth,versions',
    '<%= config.bin %> train --emit sbatch > job.sh',
  ]
  static override strict = false
  static override args = {
    arguments: Args.string({description: 'after --: arguments for the script, added to those of the manifest'}),
  }
  static override flags = {
    ...trainFlags,
    emit: Flags.option({options: ['sbatch'] as const})({
      description: 'print the Slurm script to submit by hand, and change nothing',
      exclusive: ['dry-run', 'detach'],
    }),
    ...profileFlags,
    'watch-every': watchEveryFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(Train)
    const [context, place, json] = [await this.context(), await this.projectSession(flags), this.jsonEnabled()]
    const [
      {CliError},
      {planTrain, runPlan, SLURM},
      {parseSkip},
      {failureOf},
      {trainedText},
      {trainPlanText},
      {linePrinter, newsTeller},
      {throwWithPreflight},
      {trainStatus},
    ] = await Promise.all([
      import('../lib/base/index.ts'),
      import('../lib/train/index.ts'),
      import('../lib/preflight/index.ts'),
      import('../lib/runs/index.ts'),
      import('../cli/runs/text.ts'),
      import('../cli/train/plan-text.ts'),
      import('../cli/runs/follow.ts'),
      import('../cli/train/preflight-text.ts'),
      import('../cli/train/status.ts'),
    ])
    const choice = {
      nodes: flags.nodes,
      spares: flags.spares,
      processesPerNode: flags['processes-per-node'],
      on: flags.on,
      exclude: flags.exclude,
      gpus: flags.gpus,
      args: wordsOf(raw),
      name: flags.name,
      tracking: flags.tracking && flags.emit === undefined,
      scheduler: flags.emit === undefined ? flags.scheduler : ('slurm' as const),
      exclusive: flags.exclusive,
      shareGpus: flags['share-gpus'],
      wait: flags.wait ? (flags.timeout ?? Infinity) : undefined,
      profile: profileChoice(flags),
      look: flags['dry-run'],
      preflight: {skip: parseSkip(flags.skip), force: flags.force},
    }
    const train = await planTrain(place, choice, context)
    if (flags['dry-run']) return this.answer(train.plan, () => trainPlanText(train))
    if (flags.emit) {
      if (train.workspaces.plan.steps.length > 0)
        context.reporter.note(`before it is submitted: flexrack workspace up --on ${place.rack.slurm?.login}`)
      return this.answer({run: train.spec.run, script: SLURM.handScript(train)}, ({script}) => script.trimEnd())
    }
    const status = trainStatus(place, {watchEvery: flags['watch-every'], json, detach: flags.detach}, context)
    const trained = await runPlan(
      train,
      place,
      {
        detach: flags.detach,
        onStart: status.onStart,
        onLines: linePrinter(json),
        onNews: newsTeller(context),
      },
      context,
    )
      .catch((error: unknown) => throwWithPreflight(error, json))
      .finally(() => status.close())
    if (json && trained.status !== 'running') this.follow({result: trained}, () => '')
    else this.answer(trained, trainedText)
    if (trained.status === 'stopped')
      throw new CliError('INTERRUPTED', `run ${trained.run} was stopped`, {hint: `flexrack runs show ${trained.run}`})
    if (trained.status === 'failed') throw failureOf(trained.run, {cause: trained.cause})
    return trained.status === 'running' ? trained : undefined
  }
}
