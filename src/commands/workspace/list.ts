import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {workspacesText} from '../../cli/workspace/text.ts'

export default class WorkspaceList extends BaseCommand {
  static override summary = 'list the workspaces on the nodes'
  static override description =
    'Shows every project that has a workspace on a node of the rack: when it was synced and by whom, its environment, and how many processes run in it.'
  static override examples = ['<%= config.bin %> workspace list', '<%= config.bin %> workspace list --on node-1 --json']
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceList)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{selectNodes}, {openHosts, throwIfNodesFailed}, {findWorkspaces}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../cli/workspace/hosts.ts'),
      import('../../lib/workspace/index.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const {hosts, failed} = await openHosts(fleet, nodes, context)
    const found = (await Promise.all(hosts.map((host) => findWorkspaces(host, undefined, context)))).flat()
    const answer = this.answer(found, workspacesText)
    await throwIfNodesFailed(nodes, failed)
    return answer
  }
}
