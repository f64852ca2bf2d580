import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'

export default class DataAdd extends BaseCommand {
  static override summary = 'keep a folder as the newest version of a data set'
  static override description =
    'Keeps the contents of all files on this machine, each once whatever number of versions has it. The version is known by its digest, over paths, modes and contents. ' +
    'Files that are as they were the last time are not read. Links to files are kept as what they lead to.'
  static override examples = [
    '<%= config.bin %> data add ~/digits digits',
    '<%= config.bin %> data add ./images images --json',
  ]
  static override args = {
    folder: Args.string({required: true, description: 'folder with the files'}),
    name: Args.string({required: true, description: 'name of the data set'}),
  }

  async run(): Promise<unknown> {
    const {args} = await this.parse(DataAdd)
    const [{openStore}, {addedText}] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/text.ts'),
    ])
    return this.answer(await (await openStore(await this.context())).add(args.folder, args.name), addedText)
  }
}
