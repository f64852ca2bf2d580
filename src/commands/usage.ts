import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {projectFlag, racksFlag} from '../cli/base/flags.ts'

export default class Usage extends BaseCommand {
  static override summary = 'GPU hours, core hours and runs, by user, project, node, day or hour'
  static override description =
    "Adds up what the nodes keep about every run of your account, even removed ones, and what the tracking server knows about other accounts' runs. " +
    'GPU hours count the time that a run held GPUs, busy or not; core hours count the CPU time of its ranks. Runs that failed, were stopped or still run count, too.'
  static override examples = [
    '<%= config.bin %> usage',
    '<%= config.bin %> usage --since 7d --by project',
    '<%= config.bin %> usage --rack all --by rack',
    '<%= config.bin %> usage --since 2026-11-01 --by node --csv > usage.csv',
  ]
  static override flags = {
    since: Flags.string({default: '30d', description: 'start of the period: 30d, 12h, 2w, a date, or all'}),
    by: Flags.option({options: ['user', 'project', 'node', 'rack', 'day', 'hour'] as const, default: 'user' as const})({
      description: 'one row for each of these',
    }),
    csv: Flags.boolean({description: 'rows as comma-separated values'}),
    rack: racksFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Usage)
    const [{readUsage, sinceOf, usageReport}, {silentRacks, usageCsv, usageText}, {answersOf}] = await Promise.all([
      import('../lib/usage/index.ts'),
      import('../cli/usage/text.ts'),
      import('../cli/base/racks.ts'),
    ])
    const since = sinceOf(flags.since, Date.now() / 1000)
    const {answers} = await this.eachRack(flags, (session, context) => readUsage(session, since, context))
    const report = usageReport(answersOf(answers), flags.by, since)
    Object.assign(report.unasked, silentRacks(answers))
    return this.answer(report, flags.csv ? usageCsv : usageText)
  }
}
