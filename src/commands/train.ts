import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, projectFlag, racksFlag, watchEveryFlag} from '../cli/base/flags.ts'
import {wordsOf} from '../cli/base/words.ts'
import {trainFlags} from '../cli/train/flags.ts'
import {profileFlags} from '../cli/train/profile-steps.ts'

export default class Train extends BaseCommand {
  static override summary = 'train on the nodes of the rack'
  static override description =
    'Syncs the project to the nodes, checks the nodes and the links between them (preflight), starts the ranks on all of them as one gang, and shows their merged output. ' +
    'Ctrl-C stops the run gracefully, a second Ctrl-C at once; the exit status is 130, and nodes that could not be reached are named. If this command ends in any other way, the run goes on. ' +
    'The run first reserves its nodes, all or none: their GPUs, and with --exclusive the whole nodes. ' +
    'Of several racks the first that can start it now trains, and what the others lack is told. ' +
    'One failing rank ends the run everywhere, and the first cause is shown.'
  static override examples = [
    '<%= config.bin %> train',
    '<%= config.bin %> train --nodes 2 --processes-per-node 4 -- --epochs 20',
    '<%= config.bin %> train --nodes 2 --processes-per-node 4 --gpus 1 --exclude old-* --dry-run',
    '<%= config.bin %> train --detach',
    '<%= config.bin %> train --exclusive --wait --timeout 3600',
    '<%= config.bin %> train --rack lab,cloud',
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
    rack: racksFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(Train)
    const [context, json, args] = [await this.context(), this.jsonEnabled(), wordsOf(raw)]
    const [{trainOn}, {onRack}] = await Promise.all([
      import('../cli/train/command.ts'),
      import('../cli/train/first-rack.ts'),
    ])
    const racks = await this.racksNamed(flags.rack)
    const how = {args, json, isOneOf: racks !== undefined}
    const outcome = await onRack(
      racks,
      flags,
      async (place, {wait, started}) => trainOn(place, {...flags, wait}, {...how, started}, context),
      context,
    )
    if (outcome.kind === 'planned') {
      const {trainPlanText} = await import('../cli/train/plan-text.ts')
      return this.answer(outcome.train.plan, () => trainPlanText(outcome.train))
    }
    if (outcome.kind === 'script')
      return this.answer({run: outcome.run, script: outcome.script}, ({script}) => script.trimEnd())
    const [{trainedText}, {throwUnfinished}] = await Promise.all([
      import('../cli/runs/text.ts'),
      import('../cli/train/run.ts'),
    ])
    const {trained} = outcome
    if (json && trained.status !== 'running') this.follow({result: trained}, () => '')
    else this.answer(trained, trainedText)
    throwUnfinished(trained)
    return trained.status === 'running' ? trained : undefined
  }
}
