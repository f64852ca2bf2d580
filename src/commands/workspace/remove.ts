import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class WorkspaceRemove extends BaseCommand {
  static override summary = 'remove a workspace from the nodes'
  static override description =
    'Ends what runs in the workspace and removes its folder, with everything in it, on every node that has it. Keeps runs with their logs and outputs, and what was saved of it (`workspace history`), once more before it goes; removes nothing while a run is active in it. --environments also removes the Python environments that nothing uses any more.'
  static override examples = [
    '<%= config.bin %> workspace remove --dry-run',
    '<%= config.bin %> workspace remove digits --on node-1 --environments --yes',
  ]
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    environments: Flags.boolean({description: 'also remove Python environments that nothing uses'}),
    history: Flags.boolean({description: 'also remove what the nodes have saved of it'}),
    grace: Flags.integer({default: 10, min: 0, description: 'seconds between SIGTERM and SIGKILL'}),
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceRemove)
    const session = await this.session(flags)
    const {endWorkspaces} = await import('../../cli/workspace/end.ts')
    const input = {
      named: args.project,
      on: flags.on,
      remove: true,
      environments: flags.environments,
      history: flags.history,
      grace: flags.grace,
      dryRun: flags['dry-run'],
      yes: flags.yes,
    }
    return endWorkspaces(input, session, await this.context(), (value, text) => this.answer(value, text))
  }
}
