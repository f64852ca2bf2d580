import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class ModelRemove extends BaseCommand {
  static override summary = 'take a version, or a whole model, out of the registry'
  static override description = 'Files of runs, and deployed endpoints, stay as they are.'
  static override examples = ['<%= config.bin %> model remove digits/2', '<%= config.bin %> model remove digits --yes']
  static override args = {
    model: Args.string({required: true, description: 'NAME/VERSION, or NAME for the model with all versions'}),
  }
  static override flags = {'dry-run': dryRunFlag, yes: yesFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ModelRemove)
    const [{withModels}, {removedText}, {planText}, {planOf}, {confirm}, {CliError}] = await Promise.all([
      import('../../cli/model/open.ts'),
      import('../../cli/model/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/model/index.ts'),
      import('../../cli/base/prompt.ts'),
      import('../../lib/base/index.ts'),
    ])
    const context = await this.context()
    return withModels(flags, context, async (models) => {
      const removal = await models.findRemoval(args.model)
      const plan = planOf({removal})
      if (flags['dry-run']) return this.answer(plan, planText)
      const sure = flags.yes || (await confirm({message: `${plan.steps[0]?.title}?`, flag: '--yes'}, context))
      if (!sure) throw new CliError('INTERRUPTED', 'nothing was removed')
      return this.answer(await models.remove(removal), removedText)
    })
  }
}
