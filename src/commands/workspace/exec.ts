import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/flags.ts'

export default class WorkspaceExec extends BaseCommand {
  static override summary = 'run a command in the workspace'
  static override description =
    "Runs in the code folder, with the environment's Python first on the path and workspace.env set. On one node: stdin, stdout, stderr and the exit status are the command's own, Ctrl-C reaches it. " +
    'On several: each line with its node in front, exit status 8 where some fail. Without --on: the first node of the rack.'
  static override examples = ['<%= config.bin %> workspace exec -- python -c "import torch; print(torch.__version__)"', '<%= config.bin %> workspace exec --on all -- df -h .']
  static override strict = false
  static override args = {command: Args.string({description: 'the command, after --; its arguments follow', required: true})}
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {argv, flags} = await this.parse(WorkspaceExec)
    const session = await this.projectSession(flags)
    const {runInWorkspaces} = await import('../../cli/workspace-exec.ts')
    return runInWorkspaces(argv as string[], flags.on, session, await this.context(), this.jsonEnabled())
  }
}
