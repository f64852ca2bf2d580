import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {EDITORS, editorsText} from '../../cli/workspace/editors.ts'

export default class WorkspaceEditors extends BaseCommand {
  static override summary = 'list what editors have left on the nodes, or remove it'
  static override description =
    'VS Code, Cursor, Windsurf, Zed and JetBrains put a server into your home on a node when they connect to it, which stays when they go: often hundreds of MB a version. ' +
    '--remove deletes it, extensions too, unless it runs; the editor puts a new one there when it connects again.'
  static override examples = [
    '<%= config.bin %> workspace editors',
    '<%= config.bin %> workspace editors --remove vscode --on node-1',
  ]
  static override flags = {
    remove: Flags.option({options: EDITORS, multiple: true})({
      description: 'editor whose server is removed; may be given several times',
    }),
    on: onFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(WorkspaceEditors)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{selectNodes}, {openHosts, throwIfNodesFailed}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../cli/workspace/hosts.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const {hosts, failed} = await openHosts(fleet, nodes, context)
    const found = await Promise.all(
      hosts.map(async (host) => {
        const {editors} = await host.call('workspace.editors', {remove: flags.remove ?? []}, {signal: context.signal})
        return editors.map((one) => ({...one, node: host.node}))
      }),
    )
    const answer = this.answer(found.flat(), editorsText)
    await throwIfNodesFailed(nodes, failed)
    return answer
  }
}
