import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/flags.ts'
import {wordsOf} from '../../cli/words.ts'

export default class GpuServe extends BaseCommand {
  static override summary = 'have nodes share their GPUs with other machines'
  static override description =
    'Puts the GPU daemon on the nodes and starts it: as a systemd user unit where there is one, else under a supervisor. Nothing needs root. It listens where `gpu.bind` of the rack file says, on loopback by default. ' +
    'Run it again to bring it up to date; programs that use its GPUs run on meanwhile.'
  static override examples = ['<%= config.bin %> gpu serve', '<%= config.bin %> gpu serve node-1 node-2', '<%= config.bin %> gpu serve --on gpu=a100 --dry-run']
  static override strict = false
  static override args = {nodes: Args.string({description: 'nodes; all by default'})}
  static override flags = {
    backend: Flags.string({description: 'what the GPUs are reached through there', options: ['opencl'], default: 'opencl'}),
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuServe)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {servedText}, {planText}] = await Promise.all([import('../../cli/gpus.ts'), import('../../cli/gpu-text.ts'), import('../../cli/render.ts')])
    const [nodes, gpus] = [await gpuNodes(session, wordsOf(raw), flags.on), await gpusOf(session, context)]
    if (flags['dry-run']) return this.answer(await gpus.planServe(nodes, flags.backend), planText)
    return this.answer(await gpus.serve(nodes, flags.backend), servedText)
  }
}
