import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class HeadStart extends BaseCommand {
  static override summary = "start the rack's service: tracking, registry and gateway"
  static override description =
    'Runs one long-lived service on the head node of the rack (head.node in the rack file): a real MLflow server that is reached only with a token, and the gateway to endpoints. ' +
    'It comes back after a reboot of the node (docs/reboot.md). The first start builds an environment with MLflow there. Running it again changes nothing, or brings the head up to date with the rack file.'
  static override examples = ['<%= config.bin %> head start', '<%= config.bin %> head start --rack lab --dry-run']
  static override flags = {rack: rackFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(HeadStart)
    const {rack, fleet} = await this.session(flags)
    const {planHead, startHead} = await import('../../lib/head/index.ts')
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(await planHead(rack, fleet, await this.context(), 'start'), planText)
    }
    const {headText} = await import('../../cli/head/text.ts')
    return this.answer(await startHead(rack, fleet, await this.context()), headText)
  }
}
