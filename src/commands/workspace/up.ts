import {BaseCommand} from '../../cli/base-command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/flags.ts'
import {bringUp} from '../../cli/workspace-up.ts'

export default class WorkspaceUp extends BaseCommand {
  static override summary = 'make nodes look like the project'
  static override description =
    'Brings the code (only what changed, by content; .gitignore and workspace.sync.exclude hold) and builds the Python environment where it is not there yet. ' +
    'What was made on the node stays. Without --on: the first node of the rack. Doing it again is quick.'
  static override examples = ['<%= config.bin %> workspace up', '<%= config.bin %> workspace up --on all', '<%= config.bin %> workspace up --dry-run']
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceUp)
    return bringUp({...flags, dryRun: flags['dry-run'], codeOnly: false, command: 'workspace up'}, await this.projectSession(flags), await this.context(), (value, text) => this.answer(value, text))
  }
}
