import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class DataList extends BaseCommand {
  static override summary = 'versions of all data sets'
  static override description =
    'Those of this machine; with --on also which nodes have them, which runs use them, and what only nodes have.'
  static override examples = ['<%= config.bin %> data list', '<%= config.bin %> data list --on all']
  static override flags = {on: onFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(DataList)
    const context = await this.context()
    const [{dataHosts}, {shownVersions}, {versionsText}] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/versions.ts'),
      import('../../cli/data/text.ts'),
    ])
    const hosts = flags.on === undefined ? [] : await dataHosts(await this.session(flags), flags.on, context)
    return this.answer(await shownVersions(undefined, hosts, context), versionsText)
  }
}
