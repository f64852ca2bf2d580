import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ModelPromote extends BaseCommand {
  static override summary = 'point an alias to a version of a model'
  static override description =
    'Says which version the alias pointed to before. What is deployed does not change until the next `endpoint deploy`.'
  static override examples = [
    '<%= config.bin %> model promote digits/4 production',
    '<%= config.bin %> model promote digits@staging production',
  ]
  static override args = {
    model: Args.string({required: true, description: 'NAME/VERSION, NAME@ALIAS, or NAME for the newest'}),
    alias: Args.string({default: 'production', description: 'the alias'}),
  }
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ModelPromote)
    const [{withModels}, {promotedText}, {planText}, {planOf}] = await Promise.all([
      import('../../cli/model/open.ts'),
      import('../../cli/model/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/model/index.ts'),
    ])
    return withModels(flags, await this.context(), async (models) => {
      const promotion = await models.findPromotion(args.model, args.alias)
      if (flags['dry-run']) return this.answer(planOf({promotion}), planText)
      return this.answer(await models.promote(promotion), promotedText)
    })
  }
}
