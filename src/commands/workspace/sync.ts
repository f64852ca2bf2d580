import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {overwriteFlag} from '../../cli/workspace/flags.ts'
import {bringUp} from '../../cli/workspace/up.ts'

export default class WorkspaceSync extends BaseCommand {
  static override summary = 'sync the code to nodes, and nothing else'
  static override description = 'Like `workspace up`, but leaves the Python environment alone. A file that was edited on the node stays as it is there; one that has changed here, too, is a conflict. Without --on it uses the first node of the rack.'
  static override examples = ['<%= config.bin %> workspace sync', '<%= config.bin %> workspace sync --on node-2 --dry-run']
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag, overwrite: overwriteFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceSync)
    return bringUp({...flags, dryRun: flags['dry-run'], codeOnly: true, command: 'workspace sync'}, await this.projectSession(flags), await this.context(), (value, text) => this.answer(value, text))
  }
}
