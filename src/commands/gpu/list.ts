import {BaseCommand} from '../../cli/base/command.ts'
import type {Session} from '../../cli/base/session.ts'
import type {Context} from '../../lib/base/index.ts'
import {onFlag, racksFlag} from '../../cli/base/flags.ts'

export default class GpuList extends BaseCommand {
  static override summary = 'every GPU that the rack shares: what is free, and who holds the rest'
  static override description =
    'A node that does not answer is shown with the reason, and the exit status is 8. Nodes that share no GPU are named last.'
  static override examples = [
    '<%= config.bin %> gpu list',
    '<%= config.bin %> gpu list --json',
    '<%= config.bin %> gpu list --rack all',
  ]
  static override flags = {on: onFlag, rack: racksFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuList)
    const [{gpuNodes, gpusOf}, {gpuListText}, {racksText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
      import('../../cli/base/racks.ts'),
    ])
    const read = async (session: Session, context: Context) => {
      const report = await (await gpusOf(session, context)).read(await gpuNodes(session, [], flags.on))
      if (report.nodes.some((node) => node.state === 'failed')) process.exitCode = 8
      return report
    }
    return this.answerOfRacks(flags, read, gpuListText, (answers) => racksText(answers, gpuListText))
  }
}
