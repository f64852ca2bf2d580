import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {notebooksText} from '../../cli/notebook/text.ts'

export default class NotebookList extends BaseCommand {
  static override summary = 'notebooks of the rack: their kernels, what will be ended when, and what was'
  static override description = 'Looking is no use: it keeps nothing alive.'
  static override examples = ['<%= config.bin %> notebook list', '<%= config.bin %> notebook list --on node-1 --json']
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(NotebookList)
    const session = await this.session(flags)
    const {notebooksOf} = await import('../../cli/notebook/open.ts')
    const found = await notebooksOf(session, {on: flags.on}, await this.context())
    return this.answer(
      found.map((one) => one.notebook),
      notebooksText,
    )
  }
}
