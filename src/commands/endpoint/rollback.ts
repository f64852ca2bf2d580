import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, readyTimeoutFlag} from '../../cli/base/flags.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class EndpointRollback extends BaseCommand {
  static override summary = 'go back to the last good release before this one'
  static override description =
    'Starts that release again, waits until it is ready, and switches the gateway. Later rollbacks skip the release that this one leaves. ' +
    'Several endpoints, also of several racks (NAME@RACK), go back at the same moment, or none of them.'
  static override examples = [
    '<%= config.bin %> endpoint rollback digits',
    '<%= config.bin %> endpoint rollback encoder decoder',
    '<%= config.bin %> endpoint rollback digits@lab digits@edge',
    '<%= config.bin %> endpoint rollback digits --dry-run',
  ]
  static override strict = false
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint, or of several that go back together'}),
  }
  static override flags = {
    timeout: readyTimeoutFlag,
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(EndpointRollback)
    const [{rollbackNamed}, {changesText, changeText}, {planText}] = await Promise.all([
      import('../../cli/endpoint/rollback.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
    ])
    const {plan, carryOut} = await rollbackNamed(wordsOf(raw), flags, await this.context())
    if (flags['dry-run']) return this.answer(await plan(), planText)
    const changes = await carryOut()
    const [only] = changes
    return only && changes.length === 1 ? this.answer(only, changeText) : this.answer(changes, changesText)
  }
}
