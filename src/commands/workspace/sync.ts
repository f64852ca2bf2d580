import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {overwriteFlag} from '../../cli/workspace/flags.ts'
import {bringUp} from '../../cli/workspace/up.ts'

export default class WorkspaceSync extends BaseCommand {
  static override summary = 'sync the code to nodes, and nothing else'
  static override description =
    'Like `workspace up`, but leaves the Python environment alone. A file that was edited on the node stays as it is there; one that has changed here, too, is a conflict. ' +
    'With --watch every saved file follows at once, until Ctrl-C; a lost connection is made again. Without --on it uses the first node of the rack.'
  static override examples = [
    '<%= config.bin %> workspace sync',
    '<%= config.bin %> workspace sync --on node-2 --dry-run',
    '<%= config.bin %> workspace sync --watch --on all',
  ]
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    overwrite: overwriteFlag,
    watch: Flags.boolean({description: 'stay, and sync at every save', exclusive: ['dry-run']}),
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceSync)
    const [session, context] = [await this.projectSession(flags), await this.context()]
    if (flags.watch) {
      const {liveText, watchProject} = await import('../../cli/workspace/watch.ts')
      return watchProject(flags, session, context, (event) => this.follow(event, liveText))
    }
    return bringUp(
      {...flags, dryRun: flags['dry-run'], codeOnly: true, command: 'workspace sync'},
      session,
      context,
      (value, text) => this.answer(value, text),
    )
  }
}
