import {BaseCommand} from '../../cli/base/command.ts'
import {localStatusText} from '../../cli/local/text.ts'

export default class LocalStatus extends BaseCommand {
  static override summary = 'show the rack on this machine'
  static override description =
    'Shows whether the local rack runs, its nodes with their ports, and how many processes run on each.'
  static override examples = ['<%= config.bin %> local status', '<%= config.bin %> local status --json']

  async run(): Promise<unknown> {
    await this.parse(LocalStatus)
    const {localStatus} = await import('../../lib/local/index.ts')
    return this.answer(await localStatus(await this.context()), localStatusText)
  }
}
