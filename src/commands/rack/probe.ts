import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {probeText} from '../../cli/rack/probe-text.ts'
import type {NodeReport, Probe} from '../../lib/nodes/index.ts'

/**
 * Above this, asking every node for its route to every other would grow with the square; the head's route is enough.
 */
const ALL_ROUTES = 16

export default class RackProbe extends BaseCommand {
  static override summary = 'measure the nodes'
  static override description =
    'Asks every node, at the same time, for cores, sockets, NUMA nodes, memory, disk, limits, Python, GPUs and how they are wired, free shares of GPU daemons, network cards, RDMA ports, addresses, routes to the others, container runtimes, Slurm and its clock. ' +
    'Unreachable nodes are listed with the reason; the others are shown all the same, and the exit status is 8.'
  static override examples = [
    '<%= config.bin %> rack probe',
    '<%= config.bin %> rack probe --on node-1',
    '<%= config.bin %> rack probe --json',
  ]
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<NodeReport<Probe>[]> {
    const {flags} = await this.parse(RackProbe)
    const {rack, fleet} = await this.session(flags)
    const [{selectNodes}, {probeNodes, throwIfAnyFailed}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../lib/nodes/index.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const peers =
      rack.nodes.length <= ALL_ROUTES ? rack.nodes : rack.nodes.filter((node) => node.name === rack.head.node)
    const reports = await probeNodes(nodes, fleet, await this.context(), {peers})
    const answer = this.answer(reports, (all) => (all.some((report) => report.ok) ? probeText(all) : ''))
    throwIfAnyFailed(reports)
    return answer
  }
}
