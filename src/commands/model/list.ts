import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ModelList extends BaseCommand {
  static override summary = 'registered models, their newest version and aliases'
  static override description =
    'Reads the registry of the tracking server: the one named in the manifest, else the head of the rack.'
  static override examples = ['<%= config.bin %> model list']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(ModelList)
    const [{withModels}, {modelListText}] = await Promise.all([
      import('../../cli/model/open.ts'),
      import('../../cli/model/text.ts'),
    ])
    return this.answer(await withModels(flags, await this.context(), (models) => models.list()), modelListText)
  }
}
