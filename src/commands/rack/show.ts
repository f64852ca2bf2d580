import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {projectFlag, rackFlag} from '../../cli/flags.ts'
import {nodeText, rackText} from '../../cli/rack-text.ts'
import type {Rack, RackNode} from '../../lib/rack/index.ts'

export default class RackShow extends BaseCommand {
  static override summary = 'show a rack, or one of its nodes'
  static override description = 'Shows what the rack file says. What the nodes really are is told by: flexrack rack probe.'
  static override examples = ['<%= config.bin %> rack show', '<%= config.bin %> rack show lab', '<%= config.bin %> rack show lab node-1']
  static override args = {rack: Args.string({description: 'name or file of the rack'}), node: Args.string({description: 'name of a node'})}
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<Rack | RackNode> {
    const {args, flags} = await this.parse(RackShow)
    const {rack} = await this.session({...flags, rack: args.rack ?? flags.rack})
    if (args.node === undefined) return this.answer(rack, rackText)
    const {selectNodes} = await import('../../lib/rack/index.ts')
    const [node] = selectNodes(rack, args.node, [])
    return this.answer(node as RackNode, nodeText)
  }
}
