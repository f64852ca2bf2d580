import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {showSaved} from '../../cli/workspace/history.ts'

export default class WorkspaceHistory extends BaseCommand {
  static override summary = 'what the node has saved of the workspace'
  static override description =
    'With workspace.autosave in flexrack.yaml the node saves the workspace by itself. Shows what it saved when, which runs ran it, what is left out, and why a save failed. Of a file, its versions. ' +
    'Kept are all saves of the last two hours, then one an hour for a day, one a day for two weeks, one a week for eight weeks; and what a run ran, as long as the node has the run. ' +
    'It lies on the node: who has the account there can remove it. --copy keeps a copy on this machine, to which the node has no way; --from shows what such a copy has.'
  static override examples = [
    '<%= config.bin %> workspace history',
    '<%= config.bin %> workspace history train.py',
    '<%= config.bin %> workspace history --save',
    '<%= config.bin %> workspace history --copy ~/copies/digits',
    '<%= config.bin %> workspace history --from ~/copies/digits',
  ]
  static override args = {path: Args.string({description: 'file of the project'})}
  static override flags = {
    save: Flags.boolean({description: 'save it now', exclusive: ['anew', 'copy']}),
    copy: Flags.string({
      helpValue: 'FOLDER',
      description: 'fetch what is new of it to this folder of yours, in which nothing is ever replaced or removed',
      exclusive: ['anew'],
    }),
    from: Flags.string({
      helpValue: 'FOLDER',
      description: 'of a copy on this machine: no node is asked',
      exclusive: ['save', 'copy', 'anew', 'dry-run', 'on'],
    }),
    anew: Flags.boolean({description: 'put aside what is damaged, or whose key is lost, and begin another one'}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceHistory)
    if (flags.from !== undefined) {
      const {showCopy} = await import('../../cli/workspace/history-copy.ts')
      return showCopy(flags.from, await this.context(), (value, text) => this.answer(value, text))
    }
    return showSaved(
      {...flags, path: args.path, dryRun: flags['dry-run']},
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
