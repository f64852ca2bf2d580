import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {atFlag, runFlag} from '../../cli/workspace/flags.ts'
import {diffSaved} from '../../cli/workspace/history.ts'
import {diffText} from '../../cli/workspace/history-text.ts'

export default class WorkspaceDiff extends BaseCommand {
  static override summary = 'what has changed in the workspace since it was saved'
  static override description =
    'Compares what the node has now with what it saved: the last time, or --at a time, or what a run ran. Of a file or folder that is named, and with --text of all, it shows the lines, as `diff -u` does.'
  static override examples = [
    '<%= config.bin %> workspace diff',
    '<%= config.bin %> workspace diff --at 2h train.py',
    '<%= config.bin %> workspace diff --run digits-k3x9a --text',
  ]
  static override args = {path: Args.string({description: 'file or folder of the project (default: all)'})}
  static override flags = {
    at: atFlag,
    run: runFlag,
    text: Flags.boolean({description: 'show the lines that differ'}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceDiff)
    return this.answer(
      await diffSaved(
        {...flags, path: args.path, text: flags.text || args.path !== undefined},
        await this.projectSession(flags),
        await this.context(),
      ),
      diffText,
    )
  }
}
