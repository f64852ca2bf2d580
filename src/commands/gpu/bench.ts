import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, rackFlag} from '../../cli/base/flags.ts'
import {gpuFlags} from '../../cli/gpu/request.ts'

const {api: _api, ...shareFlags} = gpuFlags

export default class GpuBench extends BaseCommand {
  static override summary = 'measure a GPU through the driver, and the link to it alone'
  static override description =
    'Leases GPUs as `attach` does, measures them one after the other, and returns them: round trips, launches, copies, and kernels that compute, through OpenCL (not yet through CUDA). It also measures bare TCP over the same path, as the floor, so you see what the network costs. ' +
    'Nothing has to be installed: the benchmark comes with the native layer. It takes whole GPUs unless a flag says otherwise, and about ten seconds per GPU, longer on slow links.'
  static override examples = [
    '<%= config.bin %> gpu bench',
    '<%= config.bin %> gpu bench --on node-2 --transport tls',
    '<%= config.bin %> gpu bench -n 2 --memory 1GiB --json',
  ]
  static override flags = {
    count: Flags.integer({char: 'n', description: 'how many GPUs', min: 1, max: 64, default: 1}),
    ...shareFlags,
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuBench)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf, waitSeconds}, {gpuRequest}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../lib/gpu/index.ts'),
    ])
    const [wait, gpus, {transport}] = [waitSeconds(flags), await gpusOf(session, context), flags]
    const input = {
      nodes: await gpuNodes(session, [], flags.on),
      request: gpuRequest(flags),
      ...(wait !== undefined && {wait}),
      ...(transport !== undefined && {transport}),
    }
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(await gpus.planBench(input), planText)
    }
    const {gpuBenchText} = await import('../../cli/gpu/bench-text.ts')
    return this.answer(await gpus.bench(input), gpuBenchText)
  }
}
