import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class HeadStop extends BaseCommand {
  static override summary = "stop the rack's head"
  static override description =
    'Answers requests in flight, ends MLflow and the head, and proves that no process is left. A standby ends, too, unless --first says otherwise. Runs, models and endpoints stay on disk. Trainings that go on keep what they log on their nodes.'
  static override examples = [
    '<%= config.bin %> head stop',
    '<%= config.bin %> head stop --grace 60',
    '<%= config.bin %> head stop --first',
  ]
  static override flags = {
    rack: rackFlag,
    project: projectFlag,
    grace: Flags.integer({description: 'seconds for requests in flight', default: 20, min: 0}),
    first: Flags.boolean({description: 'the first head only: a standby goes on to serve endpoints'}),
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(HeadStop)
    const {rack, fleet} = await this.session(flags)
    const {planHead, stopHead} = await import('../../lib/head/index.ts')
    const options = {graceSeconds: flags.grace, firstOnly: flags.first}
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(await planHead(rack, fleet, await this.context(), 'stop', options), planText)
    }
    const {headText} = await import('../../cli/head/text.ts')
    return this.answer(await stopHead(rack, fleet, await this.context(), options), headText)
  }
}
