import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class WorkspaceSshConfig extends BaseCommand {
  static override summary = 'make workspaces hosts of ssh, for every editor, scp and rsync'
  static override description =
    'Afterwards `ssh ws-PROJECT`, scp, sftp, rsync, port forwards and every editor that knows SSH work in the workspace, with its environment; ws-PROJECT is the first node that has it, ws-PROJECT-NODE each where there are several. ' +
    'It writes one file of hosts and includes it at the top of ~/.ssh/config. The keys of the hosts are pinned there. Connections go through flexrack: nothing listens on the node. ' +
    'Run it again after `workspace up` on other nodes. --remove takes all of it away, for every project.'
  static override examples = [
    '<%= config.bin %> workspace ssh-config',
    '<%= config.bin %> workspace ssh-config --dry-run',
    '<%= config.bin %> workspace ssh-config --remove',
  ]
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {
    remove: Flags.boolean({description: 'take the hosts of all projects away, and the line in ~/.ssh/config'}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceSshConfig)
    const context = await this.context()
    const {removeSshHosts, writeSshHosts} = await import('../../cli/workspace/ssh-config.ts')
    const answer = <T>(value: T, text: (value: T) => string): T => this.answer(value, text)
    if (flags.remove) return removeSshHosts(flags['dry-run'], context, answer)
    return writeSshHosts(
      {named: args.project, on: flags.on, dryRun: flags['dry-run']},
      await this.session(flags),
      context,
      answer,
    )
  }
}
