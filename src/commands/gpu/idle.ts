import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, racksFlag} from '../../cli/base/flags.ts'

export default class GpuIdle extends BaseCommand {
  static override summary =
    'GPUs that nobody uses: free, leased but idle, or of a run that hardly computes; and the hours they cost'
  static override description =
    'First what does nothing right now: GPUs that nobody has, leases that no program uses or that compute nothing, and runs whose GPUs were busy less than 5 % of at least ten minutes (dark). ' +
    'Then GPU hours of runs by user, project, node, rack, day or hour (UTC), and of those whose load was measured how many were idle.'
  static override examples = [
    '<%= config.bin %> gpu idle',
    '<%= config.bin %> gpu idle --since 24h --by project',
    '<%= config.bin %> gpu idle --since 2d --by hour',
    '<%= config.bin %> gpu idle --rack all --json',
  ]
  static override flags = {
    since: Flags.string({
      default: '7d',
      description: 'start of the period for the hours: 30d, 12h, 2w, a date, or all',
    }),
    by: Flags.option({options: ['user', 'project', 'node', 'rack', 'day', 'hour'] as const, default: 'user' as const})({
      description: 'one row for each of these',
    }),
    rack: racksFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(GpuIdle)
    const [{readIdle}, {sinceOf, usageReport}, {idleText}, {silentRacks}, {answersOf}] = await Promise.all([
      import('../../cli/usage/idle.ts'),
      import('../../lib/usage/index.ts'),
      import('../../cli/usage/idle-text.ts'),
      import('../../cli/usage/text.ts'),
      import('../../cli/base/racks.ts'),
    ])
    const since = sinceOf(flags.since, Date.now() / 1000)
    const {answers} = await this.eachRack(flags, (session, context) => readIdle(session, since, context))
    const racks = answersOf(answers)
    const usage = usageReport(
      racks.map((one) => one.usage),
      flags.by,
      since,
    )
    Object.assign(usage.unasked, silentRacks(answers))
    return this.answer({idle: racks.flatMap((one) => one.idle), usage}, idleText)
  }
}
