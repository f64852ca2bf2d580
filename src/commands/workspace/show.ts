import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {workspaceText} from '../../cli/workspace/text.ts'

export default class WorkspaceShow extends BaseCommand {
  static override summary = 'show a workspace: folders, environment, what runs in it'
  static override description =
    'Shows the workspace of a project (the one of flexrack.yaml by default) on every node that has it, with the processes that run in it and the runs they belong to.'
  static override examples = ['<%= config.bin %> workspace show', '<%= config.bin %> workspace show digits --on node-1']
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WorkspaceShow)
    const {rack, fleet, manifest} = await this.session(flags)
    const context = await this.context()
    const [{selectNodes}, {openHosts, throwIfNodesFailed}, {findWorkspaces}, {projectName}, {CliError}] =
      await Promise.all([
        import('../../lib/rack/index.ts'),
        import('../../cli/workspace/hosts.ts'),
        import('../../lib/workspace/index.ts'),
        import('../../cli/workspace/nodes.ts'),
        import('../../lib/base/index.ts'),
      ])
    const project = projectName(args.project, manifest)
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const {hosts, failed} = await openHosts(fleet, nodes, context)
    const found = (await Promise.all(hosts.map((host) => findWorkspaces(host, project, context)))).flat()
    if (found.length === 0 && failed.size === 0)
      throw new CliError('NOT_FOUND', `no node has a workspace ${project}`, {hint: 'flexrack workspace up'})
    const answer = this.answer(found, workspaceText)
    await throwIfNodesFailed(nodes, failed)
    return answer
  }
}
