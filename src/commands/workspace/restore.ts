import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {atFlag, runFlag} from '../../cli/workspace/flags.ts'
import {restoreSaved} from '../../cli/workspace/history.ts'

export default class WorkspaceRestore extends BaseCommand {
  static override summary = 'bring back what the node has saved of the workspace'
  static override description =
    'Restores what was saved last (of a file that has gone, where it was last), or --at a time, or what a run ran, into a new folder on the node, or --to one of this machine. ' +
    'With --in-place it changes the workspace itself back, which is saved before: the answer says how that is undone. What was made since then stays, unless --remove says otherwise; what is not saved is never written over. --from restores out of a copy that `workspace history --copy` made, without the node.'
  static override examples = [
    '<%= config.bin %> workspace restore --at 2h train.py',
    '<%= config.bin %> workspace restore --run digits-k3x9a --to ./as-it-ran',
    '<%= config.bin %> workspace restore --at 1a2b3c4d --in-place --dry-run',
    '<%= config.bin %> workspace restore --from ~/copies/digits --to ./digits-again',
  ]
  static override args = {path: Args.string({description: 'file or folder of the project (default: all)'})}
  static override flags = {
    at: atFlag,
    run: runFlag,
    to: Flags.string({
      helpValue: 'FOLDER',
      description: 'folder of this machine, which is made',
      exclusive: ['in-place'],
    }),
    from: Flags.string({
      helpValue: 'FOLDER',
      description: 'out of this copy on this machine: no node is asked',
      dependsOn: ['to'],
      exclusive: ['in-place', 'run', 'on'],
    }),
    'in-place': Flags.boolean({description: 'over what the workspace has, which is saved before'}),
    remove: Flags.boolean({description: 'also remove what was not there then', dependsOn: ['in-place']}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceRestore)
    if (flags.from !== undefined && flags.to !== undefined) {
      const {restoreFromCopy} = await import('../../cli/workspace/history-copy.ts')
      const wish = {from: flags.from, to: flags.to, at: flags.at, path: args.path, dryRun: flags['dry-run']}
      return restoreFromCopy(wish, await this.context(), (value, text) => this.answer(value, text))
    }
    return restoreSaved(
      {...flags, path: args.path, inPlace: flags['in-place'], dryRun: flags['dry-run']},
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
