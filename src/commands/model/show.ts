import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ModelShow extends BaseCommand {
  static override summary = 'versions of a model and where each comes from'
  static override description =
    'For every version: its aliases, and the run, commit, command and metrics it comes from.'
  static override examples = [
    '<%= config.bin %> model show digits',
    '<%= config.bin %> model show digits@production --json',
  ]
  static override args = {model: Args.string({required: true, description: 'NAME, NAME/VERSION or NAME@ALIAS'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ModelShow)
    const [{withModels}, {modelShowText}] = await Promise.all([
      import('../../cli/model/open.ts'),
      import('../../cli/model/text.ts'),
    ])
    return this.answer(
      await withModels(flags, await this.context(), (models) => models.show(args.model)),
      modelShowText,
    )
  }
}
