import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RackReservations extends BaseCommand {
  static override summary = 'who has reserved which nodes and GPUs, and who waits for them'
  static override description =
    "A run reserves its nodes, all or none, before it starts, and holds them until it ends. Other users' reservations are shown, too. " +
    'A node that does not answer is shown with the reason, and the exit status is 8.'
  static override examples = [
    '<%= config.bin %> rack reservations',
    '<%= config.bin %> rack reservations --on node-1 --json',
  ]
  static override flags = {on: onFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RackReservations)
    const [{rack, fleet}, context] = [await this.session(flags), await this.context()]
    const [{readReservations}, {selectNodes}, {reservationsText}] = await Promise.all([
      import('../../lib/reservation/index.ts'),
      import('../../lib/rack/index.ts'),
      import('../../cli/rack/reservation-text.ts'),
    ])
    const reports = await readReservations(selectNodes(rack, flags.on, rack.nodes), fleet, context)
    if (reports.some((one) => !one.ok)) process.exitCode = 8
    return this.answer(reports, reservationsText)
  }
}
