import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class WorkspaceStdio extends BaseCommand {
  static override hidden = true
  static override summary =
    'an SSH connection into a workspace, over stdin and stdout: what ssh calls as its ProxyCommand'
  static override description =
    "`workspace ssh-config` writes it into the file of hosts. At the far end the node starts OpenSSH's server for this one connection."
  static override examples = ['ssh -o ProxyCommand="<%= config.bin %> workspace stdio digits --on node-1" digits']
  static override args = {workspace: Args.string({description: 'name of the project', required: true})}
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(WorkspaceStdio)
    const {carrySession} = await import('../../cli/workspace/stdio.ts')
    await carrySession(args.workspace, flags, await this.context())
  }
}
