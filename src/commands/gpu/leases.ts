import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, rackFlag} from '../../cli/base/flags.ts'

export default class GpuLeases extends BaseCommand {
  static override summary = 'who holds which GPUs, and for what'
  static override description =
    'The command that asked for a lease holds it, and the lease ends with the command. A node that does not answer is named, and the exit status is 8.'
  static override examples = ['<%= config.bin %> gpu leases', '<%= config.bin %> gpu leases --json']
  static override flags = {on: onFlag, rack: rackFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuLeases)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{gpuNodes, gpusOf}, {leasesText}] = await Promise.all([
      import('../../cli/gpu/request.ts'),
      import('../../cli/gpu/text.ts'),
    ])
    const report = await (await gpusOf(session, context)).read(await gpuNodes(session, [], flags.on))
    if (report.nodes.some((node) => node.state === 'failed')) process.exitCode = 8
    return this.answer({leases: report.leases, nodes: report.nodes}, leasesText)
  }
}
