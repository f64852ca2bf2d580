import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, rackFlag} from '../../cli/base/flags.ts'
import {wordsOf} from '../../cli/base/words.ts'
import {restFlag} from '../../cli/gpu/request.ts'

export default class GpuMove extends BaseCommand {
  static override summary = 'move leases to another node while their programs run'
  static override description =
    'The programs wait until their memory is there, and go on: handles and device addresses stay. A lease that cannot move stays where it is, with the reason. So far only programs of CUDA on GPUs in software move.'
  static override examples = [
    '<%= config.bin %> gpu move 3f9a --to node-3',
    '<%= config.bin %> gpu move 3f9a 77b0 --to node-3 --dry-run',
  ]
  static override strict = false
  static override args = {
    lease: Args.string({description: 'ids, or their beginnings, as `gpu leases` shows them', required: true}),
  }
  static override flags = {
    to: Flags.string({helpValue: 'NODE', description: 'node that the programs go to', required: true}),
    rest: restFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuMove)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {movedText}, {planText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const [to] = await gpuNodes(session, [flags.to], undefined)
    const gpus = await gpusOf(session, context)
    const moves = await gpus.findMoves(await gpus.find(wordsOf(raw)), to)
    if (flags['dry-run']) return this.answer(gpus.planMove('gpu move', moves, flags.rest), planText)
    return this.answer(await gpus.move('gpu move', moves, flags.rest), movedText)
  }
}
