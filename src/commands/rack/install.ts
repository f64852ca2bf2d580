import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {planText, table} from '../../cli/terminal/render.ts'

export default class RackInstall extends BaseCommand {
  static override summary = "put flexrack's program on the nodes"
  static override description =
    'Puts a small program (plain Python, without dependencies) below ~/.flexrack on every node. Every other command does so when it first needs a node; this one does it for all nodes at once.'
  static override examples = [
    '<%= config.bin %> rack install',
    '<%= config.bin %> rack install --on gpu=a100 --dry-run',
  ]
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RackInstall)
    const {rack, fleet} = await this.session(flags)
    const [{selectNodes}, {installNodes, planInstall}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../lib/install/index.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    if (flags['dry-run']) return this.answer(planInstall(rack, nodes), planText)
    const reports = await installNodes(rack, nodes, fleet, await this.context())
    const {throwIfAnyFailed} = await import('../../lib/nodes/index.ts')
    throwIfAnyFailed(reports)
    return this.answer(reports, (all) =>
      table(
        all.map(({node, value}) => ({node, root: value?.root})),
        ['node', 'root'],
      ),
    )
  }
}
