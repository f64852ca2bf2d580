import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {forwardText} from '../../cli/workspace/text.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class WorkspaceForward extends BaseCommand {
  static override summary = 'forward ports of a node to this machine'
  static override description =
    'Makes ports of the node reachable on 127.0.0.1 until Ctrl-C: those of workspace.forward, or PORT, or LOCAL:REMOTE. After a lost connection the same local ports come back with the node. Without --on it uses the first node of the rack.'
  static override examples = [
    '<%= config.bin %> workspace forward',
    '<%= config.bin %> workspace forward 8888 --on node-2',
    '<%= config.bin %> workspace forward 9000:8888 6006',
  ]
  static override strict = false
  static override args = {
    port: Args.string({description: 'PORT or LOCAL:REMOTE, any number of them (default: workspace.forward)'}),
  }
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag}

  async run(): Promise<void> {
    const {raw, flags} = await this.parse(WorkspaceForward)
    const {rack, fleet, manifest} = await this.session(flags)
    const context = await this.context()
    const [{readPorts}, {oneNode}, {keepForwards}] = await Promise.all([
      import('../../cli/workspace/ports.ts'),
      import('../../cli/workspace/nodes.ts'),
      import('../../lib/workspace/index.ts'),
    ])
    const ports = readPorts(wordsOf(raw), manifest?.workspace.forward ?? [])
    const node = oneNode(rack, flags.on)
    await keepForwards(
      () => fleet.shell(node.name),
      ports,
      (event) => {
        if (event.event === 'open' || this.jsonEnabled()) this.follow(event, forwardText)
        else if (event.event === 'back') context.reporter.note(forwardText(event))
        else context.reporter.warn(forwardText(event))
      },
      context,
    )
  }
}
