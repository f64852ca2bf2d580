import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import type {Session} from '../cli/base/session.ts'
import type {Context} from '../lib/base/index.ts'
import {projectFlag, racksFlag} from '../cli/base/flags.ts'

export default class Status extends BaseCommand {
  static override summary = 'one screen: nodes, head, GPUs and leases, runs, endpoints'
  static override description =
    'Asks every node of the rack at once. A node that does not answer is shown with the reason, and the exit status is 8, unless its time (`until` in the rack file) was over.'
  static override examples = [
    '<%= config.bin %> status',
    '<%= config.bin %> status --rack lab --json',
    '<%= config.bin %> status --rack all',
    'watch -n 5 <%= config.bin %> status',
  ]
  static override flags = {
    rack: racksFlag,
    project: projectFlag,
    limit: Flags.integer({description: 'runs to show', default: 8, min: 1}),
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Status)
    const [{readOverview}, {statusOfRacksText, statusText}] = await Promise.all([
      import('../lib/overview/index.ts'),
      import('../cli/status/text.ts'),
    ])
    const read = async (session: Session, context: Context) => {
      const overview = await readOverview(session, flags.limit, context)
      if (overview.nodes.some((node) => !node.ok && !node.gone)) process.exitCode = 8
      return overview
    }
    return this.answerOfRacks(flags, read, statusText, statusOfRacksText)
  }
}
