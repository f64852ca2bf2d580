import {Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base-command.ts'
import {projectFlag, rackFlag} from '../cli/flags.ts'

export default class Usage extends BaseCommand {
  static override summary = 'GPU hours, core hours and runs, by user, project or node'
  static override description =
    'From what the nodes keep of every run of your account there, also after it was removed, and of other accounts\' runs from the tracking server. ' +
    'GPU hours are those in which a run had the GPUs, busy or not; core hours are CPU time that its ranks used. Runs that failed, were stopped, or still run count for the time they had.'
  static override examples = ['<%= config.bin %> usage', '<%= config.bin %> usage --since 7d --by project', '<%= config.bin %> usage --since 2026-11-01 --by node --csv > usage.csv']
  static override flags = {
    since: Flags.string({default: '30d', description: 'from when on: 30d, 12h, 2w, a date, or all'}),
    by: Flags.option({options: ['user', 'project', 'node'] as const, default: 'user' as const})({description: 'what a row is of'}),
    csv: Flags.boolean({description: 'rows as comma-separated values'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Usage)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{readUsage, sinceOf}, {usageCsv, usageText}] = await Promise.all([import('../lib/usage/index.ts'), import('../cli/usage-text.ts')])
    const report = await readUsage(session, {since: sinceOf(flags.since, Date.now() / 1000), by: flags.by}, context)
    return this.answer(report, flags.csv ? usageCsv : usageText)
  }
}
