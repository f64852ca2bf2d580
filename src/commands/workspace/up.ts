import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {overwriteFlag} from '../../cli/workspace/flags.ts'
import {bringUp} from '../../cli/workspace/up.ts'

export default class WorkspaceUp extends BaseCommand {
  static override summary = 'sync the project to nodes and build its environment'
  static override description =
    'Sends the code (only changed content, without what .gitignore and workspace.sync.exclude name) and builds the Python environment where it is missing. ' +
    'Files created on the node stay; edited ones stay, too, unless they changed here, which is a conflict. Without --on it uses the first node of the rack. Running it again is quick.'
  static override examples = [
    '<%= config.bin %> workspace up',
    '<%= config.bin %> workspace up --on all',
    '<%= config.bin %> workspace up --dry-run',
  ]
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    overwrite: overwriteFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceUp)
    return bringUp(
      {...flags, dryRun: flags['dry-run'], codeOnly: false, command: 'workspace up'},
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
