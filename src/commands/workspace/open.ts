import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class WorkspaceOpen extends BaseCommand {
  static override summary = 'open the workspace in an editor, a notebook, or a terminal with ssh'
  static override description =
    'Opens the code folder of the workspace in VS Code, Cursor or Zed on this machine, or runs ssh. It makes the workspace a host of ssh first (see `workspace ssh-config`). Without --on it opens the first node that has the workspace. jupyter starts a notebook where none runs and stays until Ctrl-C (`notebook start`, `notebook open`). --print only prints the address.'
  static override examples = [
    '<%= config.bin %> workspace open code',
    '<%= config.bin %> workspace open zed --print',
    '<%= config.bin %> workspace open ssh --on node-2',
  ]
  static override args = {
    with: Args.string({
      description: 'what opens it',
      options: ['jupyter', 'code', 'cursor', 'zed', 'ssh'],
      required: true,
    }),
  }
  static override flags = {
    print: Flags.boolean({description: 'print the address and open nothing'}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceOpen)
    if (args.with === 'jupyter') {
      const {openJupyter} = await import('../../cli/notebook/jupyter.ts')
      return openJupyter(
        {on: flags.on, browser: !flags.print, json: this.jsonEnabled()},
        await this.projectSession(flags),
        await this.context(),
        (value, text) => this.follow(value, text),
      )
    }
    const {openWith} = await import('../../cli/workspace/open.ts')
    return openWith(
      args.with as 'code' | 'cursor' | 'zed' | 'ssh',
      flags,
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
