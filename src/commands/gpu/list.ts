import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, rackFlag} from '../../cli/base/flags.ts'

export default class GpuList extends BaseCommand {
  static override summary = 'every GPU that the rack shares: what is free, and who holds the rest'
  static override description =
    'A node that does not answer is shown with the reason, and the exit status is 8. Nodes that share no GPU are named last.'
  static override examples = ['<%= config.bin %> gpu list', '<%= config.bin %> gpu list --json']
  static override flags = {on: onFlag, rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuList)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {gpuListText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
    ])
    const report = await (await gpusOf(session, context)).read(await gpuNodes(session, [], flags.on))
    if (report.nodes.some((node) => node.state === 'failed')) process.exitCode = 8
    return this.answer(report, gpuListText)
  }
}
