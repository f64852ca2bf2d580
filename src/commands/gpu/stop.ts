import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/base/flags.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class GpuStop extends BaseCommand {
  static override summary = 'stop sharing GPUs and remove the daemon'
  static override description =
    'Refuses while somebody holds a lease on the node. --force ends the leases, too, and their programs get errors.'
  static override examples = ['<%= config.bin %> gpu stop', '<%= config.bin %> gpu stop node-2 --force']
  static override strict = false
  static override args = {nodes: Args.string({description: 'nodes; all by default'})}
  static override flags = {
    force: Flags.boolean({description: 'stop even while somebody uses the GPUs'}),
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuStop)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {withdrawnText}, {planText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const [nodes, gpus] = [await gpuNodes(session, wordsOf(raw), flags.on), await gpusOf(session, context)]
    if (flags['dry-run']) return this.answer(await gpus.planStop(nodes, flags.force ?? false), planText)
    return this.answer(await gpus.stop(nodes, flags.force ?? false), withdrawnText)
  }
}
