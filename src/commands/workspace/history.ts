import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {showSaved} from '../../cli/workspace/history.ts'

export default class WorkspaceHistory extends BaseCommand {
  static override summary = 'what the node has saved of the workspace'
  static override description =
    'With workspace.autosave in flexrack.yaml the node saves the workspace by itself. Shows what it saved when, which runs ran it, what is left out, and why a save failed. Of a file, its versions. ' +
    'Kept are all saves of the last two hours, then one an hour for a day, one a day for two weeks, one a week for eight weeks; and what a run ran, as long as the node has the run.'
  static override examples = ['<%= config.bin %> workspace history', '<%= config.bin %> workspace history train.py', '<%= config.bin %> workspace history --save']
  static override args = {path: Args.string({description: 'file of the project'})}
  static override flags = {
    save: Flags.boolean({description: 'save it now', exclusive: ['anew']}),
    anew: Flags.boolean({description: 'put aside what is damaged, or whose key is lost, and begin another one'}),
    rack: rackFlag, on: onFlag, project: projectFlag, 'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceHistory)
    return showSaved({...flags, path: args.path, dryRun: flags['dry-run']}, await this.projectSession(flags), await this.context(), (value, text) => this.answer(value, text))
  }
}
