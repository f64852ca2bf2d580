import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/flags.ts'
import {simFlags, simPaceFlags} from '../../cli/gpus.ts'
import {wordsOf} from '../../cli/words.ts'
import type {Backend} from '../../lib/gpu/index.ts'

export default class GpuServe extends BaseCommand {
  static override summary = 'have nodes share their GPUs with other machines'
  static override description =
    'Through CUDA where a node has NVIDIA\'s driver, else through OpenCL, or as --backend says; sim is a GPU in software that runs CUDA programs on the CPU. ' +
    'Puts the GPU daemon on the nodes and starts it: as a systemd user unit where there is one, else under a supervisor. Nothing needs root. It listens where `gpu.bind` of the rack file says, on loopback by default. ' +
    'Run it again to bring it up to date: without --backend a node goes on with what it had, and programs that use its GPUs run on meanwhile.'
  static override examples = ['<%= config.bin %> gpu serve', '<%= config.bin %> gpu serve node-1 node-2', '<%= config.bin %> gpu serve --on gpu=a100 --dry-run', '<%= config.bin %> gpu serve --backend sim --sim-devices 4 --sim-memory 8GiB']
  static override strict = false
  static override args = {nodes: Args.string({description: 'nodes; all by default'})}
  static override flags = {
    backend: Flags.string({description: 'what the GPUs are reached through there (default: what the node had, else cuda or opencl by what it has)', options: ['cuda', 'opencl', 'sim']}),
    ...simFlags,
    ...simPaceFlags,
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuServe)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf, simOf}, {servedText}, {planText}] = await Promise.all([import('../../cli/gpus.ts'), import('../../cli/gpu-text.ts'), import('../../cli/render.ts')])
    const [nodes, gpus] = [await gpuNodes(session, wordsOf(raw), flags.on), await gpusOf(session, context)]
    const backend = flags.backend as Backend | undefined
    const wish = {...(backend && {backend}), ...(await simOf(flags, backend === 'sim', '--backend sim'))}
    if (flags['dry-run']) return this.answer(await gpus.planServe(nodes, wish), planText)
    return this.answer(await gpus.serve(nodes, wish), servedText)
  }
}
