import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {projectFlag, rackFlag} from '../../cli/flags.ts'
import {nodeText, rackText} from '../../cli/rack-text.ts'
import {topologiesText} from '../../cli/topology-text.ts'
import type {NodeReport, NodeTopology} from '../../lib/nodes/index.ts'
import type {Rack, RackNode} from '../../lib/rack/index.ts'

export default class RackShow extends BaseCommand {
  static override summary = 'show a rack, one of its nodes, or how nodes are wired'
  static override description =
    'Shows what the rack file says. To measure what the nodes really are: flexrack rack probe.\n' +
    'With --topology it measures the nodes: NUMA nodes, a matrix of how GPUs and NICs reach each other (in the terms of nvidia-smi topo -m), and bad wiring. ' +
    'A single argument that is not a rack is then a node.'
  static override examples = [
    '<%= config.bin %> rack show',
    '<%= config.bin %> rack show lab',
    '<%= config.bin %> rack show lab node-1',
    '<%= config.bin %> rack show node-1 --topology',
  ]
  static override args = {rack: Args.string({description: 'name or file of the rack'}), node: Args.string({description: 'name of a node'})}
  static override flags = {topology: Flags.boolean({description: 'measure how GPUs, NICs and NUMA nodes are wired'}), rack: rackFlag, project: projectFlag}

  async run(): Promise<Rack | RackNode | NodeReport<NodeTopology>[]> {
    const {args, flags} = await this.parse(RackShow)
    if (flags.topology) return this.showTopology(args, flags)
    const {rack} = await this.session({...flags, rack: args.rack ?? flags.rack})
    if (args.node === undefined) return this.answer(rack, rackText)
    const {selectNodes} = await import('../../lib/rack/index.ts')
    const [node] = selectNodes(rack, args.node, [])
    return this.answer(node as RackNode, nodeText)
  }

  private async showTopology(args: {rack: string | undefined; node: string | undefined}, flags: {rack?: string | undefined; project?: string | undefined}): Promise<NodeReport<NodeTopology>[]> {
    const [{listRacks, selectNodes}, {showTopologies, throwIfAnyFailed}] = await Promise.all([import('../../lib/rack/index.ts'), import('../../lib/nodes/index.ts')])
    const ctx = await this.context()
    const isRack = args.rack !== undefined && (args.node !== undefined || /\/|\.ya?ml$/.test(args.rack) || (await listRacks(ctx.env)).some(({name}) => name === args.rack))
    const {rack, fleet} = await this.session({...flags, rack: isRack ? args.rack : flags.rack})
    const reports = await showTopologies(selectNodes(rack, isRack ? args.node : args.rack, rack.nodes), fleet, ctx)
    const answer = this.answer(reports, (all) => topologiesText(all))
    throwIfAnyFailed(reports)
    return answer
  }
}
