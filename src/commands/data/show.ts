import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class DataShow extends BaseCommand {
  static override summary = 'versions of one data set'
  static override description = 'Newest first; with --on also which nodes have them, and which runs use them.'
  static override examples = [
    '<%= config.bin %> data show digits',
    '<%= config.bin %> data show digits --on all --json',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the data set'})}
  static override flags = {on: onFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(DataShow)
    const context = await this.context()
    const [{dataHosts, openStore}, {shownVersions}, {versionsText}] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/versions.ts'),
      import('../../cli/data/text.ts'),
    ])
    const hosts = flags.on === undefined ? [] : await dataHosts(await this.session(flags), flags.on, context)
    const found = await shownVersions(args.name, hosts, context)
    if (found.length === 0) await (await openStore(context)).find(args.name) // says what is missing
    return this.answer(found, versionsText)
  }
}
