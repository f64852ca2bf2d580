import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class RunsCompare extends BaseCommand {
  static override summary = 'put runs side by side'
  static override description = 'Shows the last metrics, then the parameters, those that differ first.'
  static override examples = ['<%= config.bin %> runs compare digits-k3x9a digits-w04tz']
  static override strict = false
  static override args = {
    run: Args.string({required: true, description: 'two or more runs, or the beginnings of their ids'}),
  }
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(RunsCompare)
    const [{openRunSession}, {comparisonText}, {CliError}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/runs/text.ts'),
      import('../../lib/base/index.ts'),
    ])
    if (wordsOf(raw).length < 2)
      throw new CliError('USAGE', 'comparing takes two runs or more', {hint: 'flexrack runs list'})
    const runs = await openRunSession(flags, await this.context())
    return this.answer(await runs.compare(wordsOf(raw)), comparisonText)
  }
}
