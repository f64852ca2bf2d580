import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {restFlag} from '../../cli/gpu/request.ts'

export default class GpuDrain extends BaseCommand {
  static override summary = 'move all leases of a node to other nodes while their programs run'
  static override description =
    'As `gpu move` for each of them, one after the other, to nodes with such GPUs free. The node goes on sharing its GPUs; `gpu stop` ends that.'
  static override examples = [
    '<%= config.bin %> gpu drain node-2',
    '<%= config.bin %> gpu drain node-2 --dry-run --json',
  ]
  static override args = {node: Args.string({description: 'node that its programs leave', required: true})}
  static override flags = {rest: restFlag, 'dry-run': dryRunFlag, rack: rackFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(GpuDrain)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {movedText}, {planText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const nodes = await gpuNodes(session, [args.node], undefined)
    const gpus = await gpusOf(session, context)
    const moves = await gpus.findMoves(await gpus.leasesOn(nodes), undefined)
    if (flags['dry-run']) return this.answer(gpus.planMove('gpu drain', moves, flags.rest), planText)
    return this.answer(await gpus.move('gpu drain', moves, flags.rest), movedText)
  }
}
