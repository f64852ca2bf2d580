import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class WorkspaceStop extends BaseCommand {
  static override summary = 'end the processes in a workspace'
  static override description =
    'Ends the processes that were started in the workspace with `exec` or `ssh`, on every node that has it: SIGTERM, a grace period, SIGKILL, and a check that they are gone. `runs stop` stops runs.'
  static override examples = [
    '<%= config.bin %> workspace stop',
    '<%= config.bin %> workspace stop digits --on node-1 --dry-run',
  ]
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    grace: Flags.integer({default: 10, min: 0, description: 'seconds between SIGTERM and SIGKILL'}),
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceStop)
    const session = await this.session(flags)
    const {endWorkspaces} = await import('../../cli/workspace/end.ts')
    const input = {
      named: args.project,
      on: flags.on,
      remove: false,
      environments: false,
      grace: flags.grace,
      dryRun: flags['dry-run'],
      yes: true,
    }
    return endWorkspaces(input, session, await this.context(), (value, text) => this.answer(value, text))
  }
}
