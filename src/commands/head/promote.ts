import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class HeadPromote extends BaseCommand {
  static override summary = "make the standby the rack's head"
  static override description =
    'For when the node of the head is lost: the standby takes over endpoints, releases, keys and canaries, and its node is the head in the rack file. The lost node becomes the standby, at the next `head start` that reaches it. ' +
    'Refused while the head answers. Tracking starts empty, unless `head.store` is a database elsewhere.'
  static override examples = ['<%= config.bin %> head promote', '<%= config.bin %> head promote --rack lab --dry-run']
  static override flags = {rack: rackFlag, project: projectFlag, yes: yesFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(HeadPromote)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const {planHead, startHead} = await import('../../lib/head/index.ts')
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(await planHead(rack, fleet, context, 'promote'), planText)
    }
    if (!flags.yes) {
      const {confirm} = await import('../../cli/base/prompt.ts')
      const message = `Make ${rack.head.standby ?? 'the standby'} the head of rack ${rack.name} instead of ${rack.head.node}?`
      if (!(await confirm({message, flag: '--yes'}, context)))
        return this.answer({promoted: false}, () => 'Nothing was changed.')
    }
    const {headText} = await import('../../cli/head/text.ts')
    return this.answer(await startHead(rack, fleet, context, {promote: true}), headText)
  }
}
