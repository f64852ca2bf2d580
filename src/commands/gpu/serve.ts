import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/base/flags.ts'
import {simFlags, simPaceFlags} from '../../cli/gpu/request.ts'
import {wordsOf} from '../../cli/base/words.ts'
import type {Backend} from '../../lib/protocol/index.ts'

export default class GpuServe extends BaseCommand {
  static override summary = 'share the GPUs of nodes with other machines'
  static override description =
    "Through CUDA where a node has NVIDIA's driver, else through OpenCL, or as --backend says; sim is a GPU in software that runs CUDA programs on the CPU. " +
    'Installs the GPU daemon on the nodes and starts it: as a systemd user unit where those begin with the machine, else under a supervisor. Nothing needs root. It comes back after a reboot of the node (docs/reboot.md). The daemon listens where `gpu.bind` of the rack file says, by default on loopback. ' +
    'Run it again to update the daemon: without --backend a node keeps its backend, and programs that use its GPUs keep running.'
  static override examples = [
    '<%= config.bin %> gpu serve',
    '<%= config.bin %> gpu serve node-1 node-2',
    '<%= config.bin %> gpu serve --on gpu=a100 --dry-run',
    '<%= config.bin %> gpu serve --backend sim --sim-devices 4 --sim-memory 8GiB',
    '<%= config.bin %> gpu serve node-1 --oversubscribe 64GiB',
  ]
  static override strict = false
  static override args = {nodes: Args.string({description: 'nodes; all by default'})}
  static override flags = {
    backend: Flags.string({
      description:
        "how the daemon reaches the GPUs (default: the node's current backend, else cuda or opencl, whichever it has)",
      options: ['cuda', 'opencl', 'sim'],
    }),
    oversubscribe: Flags.string({
      helpValue: 'SIZE',
      description:
        "memory of each node for leases that take turns on a GPU, 0 for none (default: the rack file's gpu.oversubscribe, else what the node has had, else none)",
    }),
    ...simFlags,
    ...simPaceFlags,
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(GpuServe)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf, hostMemoryOf, simOf}, {servedText}, {planText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const [nodes, gpus] = [await gpuNodes(session, wordsOf(raw), flags.on), await gpusOf(session, context)]
    const backend = flags.backend as Backend | undefined
    const wish = {
      ...(backend && {backend}),
      ...(await simOf(flags, backend === 'sim', '--backend sim')),
      ...hostMemoryOf(flags.oversubscribe),
    }
    if (flags['dry-run']) return this.answer(await gpus.planServe(nodes, wish), planText)
    return this.answer(await gpus.serve(nodes, wish), servedText)
  }
}
