import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class WorkspaceSsh extends BaseCommand {
  static override summary = 'open a terminal in the workspace'
  static override description =
    "Opens a shell on a real terminal of the node, in the code folder, with the environment's Python first on the path and workspace.env set. Without a node it uses the first of the rack. Exits with the shell's exit status."
  static override examples = ['<%= config.bin %> workspace ssh', '<%= config.bin %> workspace ssh node-2']
  static override args = {node: Args.string({description: 'name of the node'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<void> {
    const {args, flags} = await this.parse(WorkspaceSsh)
    const session = await this.projectSession(flags)
    const {rack, fleet, manifest} = session
    const context = await this.context()
    const [{needTerminal, runInTerminal}, {oneNode, openWorkspace}, {workspaceScript}, {exitStatus}, {volumesOn}] =
      await Promise.all([
        import('../../cli/workspace/terminal.ts'),
        import('../../cli/workspace/nodes.ts'),
        import('../../lib/workspace/index.ts'),
        import('../../cli/base/remote-run.ts'),
        import('../../cli/workspace/volumes.ts'),
      ])
    const node = oneNode(rack, args.node)
    needTerminal(`flexrack workspace exec --on ${node.name} -- COMMAND`)
    const {host, workspace} = await openWorkspace(fleet, node, manifest.name, context)
    process.exitCode = await exitStatus(
      await runInTerminal(
        host.shell,
        workspaceScript(workspace, manifest.workspace.env, [], {
          isolate: manifest.workspace.isolate,
          volumes: await volumesOn(host, session, context),
        }),
        context,
      ),
    )
  }
}
