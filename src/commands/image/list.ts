import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ImageList extends BaseCommand {
  static override summary = 'list the container images on the nodes'
  static override description =
    'Shows the images that workspaces of the nodes run in, or did: how much room their layers take, how much of that no other image there shares, and which projects use them.'
  static override examples = ['<%= config.bin %> image list', '<%= config.bin %> image list --on node-1 --json']
  static override flags = {rack: rackFlag, on: onFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(ImageList)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{selectNodes}, {openHosts, throwIfNodesFailed}, {imagesText, listImages}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../cli/workspace/hosts.ts'),
      import('../../cli/workspace/images.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const {hosts, failed} = await openHosts(fleet, nodes, context)
    const answer = this.answer(await listImages(hosts, context), imagesText)
    await throwIfNodesFailed(nodes, failed)
    return answer
  }
}
