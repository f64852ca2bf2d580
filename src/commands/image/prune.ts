import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ImagePrune extends BaseCommand {
  static override summary = 'remove the images that no workspace uses'
  static override description =
    'Removes images from the nodes that no workspace there runs in any more, and the layers that only they had. What workspaces use stays. Your own machine keeps what it has pulled in its cache.'
  static override examples = ['<%= config.bin %> image prune', '<%= config.bin %> image prune --on node-1 --dry-run']
  static override flags = {rack: rackFlag, on: onFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(ImagePrune)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{selectNodes}, {openHosts, throwIfNodesFailed}, {prunedText, pruneImages}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../cli/workspace/hosts.ts'),
      import('../../cli/workspace/images.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const {hosts, failed} = await openHosts(fleet, nodes, context)
    const answer = this.answer(await pruneImages(hosts, flags['dry-run'], context), prunedText)
    await throwIfNodesFailed(nodes, failed)
    return answer
  }
}
