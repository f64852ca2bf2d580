import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, rackFlag} from '../../cli/base/flags.ts'

export default class GpuSmi extends BaseCommand {
  static override summary = 'the GPUs at a glance: memory, time, and who holds what'
  static override description =
    'The bars show what is in use (█), what else is leased (▒), and what is free (·). --watch repeats until Ctrl-C; with --json it writes one object per line.'
  static override examples = [
    '<%= config.bin %> gpu smi',
    '<%= config.bin %> gpu smi --watch',
    '<%= config.bin %> gpu smi --watch --interval 5 --on node-1',
  ]
  static override flags = {
    watch: Flags.boolean({char: 'w', description: 'repeat until Ctrl-C'}),
    interval: Flags.string({helpValue: 'SECONDS', description: 'with --watch: seconds between updates', default: '2'}),
    on: onFlag,
    rack: rackFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuSmi)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {gpuSmiText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/smi-text.ts'),
    ])
    const nodes = await gpuNodes(session, [], flags.on)
    if (flags.watch) {
      const {watchGpus} = await import('../../cli/gpu/watch.ts')
      await watchGpus({session, nodes, interval: flags.interval, context}, (report) => this.follow(report, gpuSmiText))
      return undefined
    }
    const report = await (await gpusOf(session, context)).read(nodes)
    if (report.nodes.some((node) => node.state === 'failed')) process.exitCode = 8
    return this.answer(report, gpuSmiText)
  }
}
