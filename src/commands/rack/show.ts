import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {nodeText, rackText} from '../../cli/rack/text.ts'
import {topologiesText} from '../../cli/rack/topology-text.ts'
import type {Context} from '../../lib/base/index.ts'
import type {NodeReport, NodeTopology} from '../../lib/nodes/index.ts'
import type {Rack, RackNode} from '../../lib/rack/index.ts'
import type {Fleet} from '../../lib/ssh/index.ts'

export default class RackShow extends BaseCommand {
  static override summary = 'show a rack, one of its nodes, or how nodes are wired'
  static override description =
    'Shows what the rack file says. To measure what the nodes really are: flexrack rack probe. A single word that is not a rack names a node.\n' +
    'With --topology it measures the nodes: NUMA nodes, a matrix of how GPUs and NICs reach each other (in the terms of nvidia-smi topo -m), and bad wiring.'
  static override examples = [
    '<%= config.bin %> rack show',
    '<%= config.bin %> rack show lab',
    '<%= config.bin %> rack show node-1',
    '<%= config.bin %> rack show lab node-1',
    '<%= config.bin %> rack show node-1 --topology',
  ]
  static override args = {
    rack: Args.string({description: 'name or file of the rack'}),
    node: Args.string({description: 'name of a node'}),
  }
  static override flags = {
    topology: Flags.boolean({description: 'measure how GPUs, NICs and NUMA nodes are wired'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<Rack | RackNode | NodeReport<NodeTopology>[]> {
    const {args, flags} = await this.parse(RackShow)
    const [context, {openNamedRack}] = await Promise.all([this.context(), import('../../cli/rack/choice.ts')])
    const {rack, fleet, nodes} = await openNamedRack(args, flags, (wanted) => this.session(wanted), context)
    if (flags.topology) return this.showTopology(nodes ?? rack.nodes, fleet, context)
    return nodes === undefined ? this.answer(rack, rackText) : this.answer(nodes[0] as RackNode, nodeText)
  }

  private async showTopology(nodes: RackNode[], fleet: Fleet, context: Context): Promise<NodeReport<NodeTopology>[]> {
    const {showTopologies, throwIfAnyFailed} = await import('../../lib/nodes/index.ts')
    const reports = await showTopologies(nodes, fleet, context)
    const answer = this.answer(reports, (all) => topologiesText(all))
    throwIfAnyFailed(reports)
    return answer
  }
}
