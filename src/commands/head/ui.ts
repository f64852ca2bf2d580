import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class HeadUi extends BaseCommand {
  static override summary = "open the rack's page, and MLflow's, in a browser on this machine"
  static override description =
    'Forwards ports of this machine to the head and prints a link that logs one browser in, once, within a minute. The page shows nodes, GPUs, runs, endpoints; MLflow is one click away. ' +
    'What the page shows of nodes is looked up from here, while somebody looks; what it does there is done as you. The forwards stay until Ctrl-C, which also logs the browser out.'
  static override examples = [
    '<%= config.bin %> head ui',
    '<%= config.bin %> head ui --open',
    '<%= config.bin %> head ui --look-only',
  ]
  static override flags = {
    rack: rackFlag,
    project: projectFlag,
    open: Flags.boolean({description: 'open the browser'}),
    'look-only': Flags.boolean({description: 'a page that changes nothing, as for a screen on the wall'}),
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(HeadUi)
    const session = await this.session(flags)
    const context = await this.context()
    const {openUi} = await import('../../cli/head/ui.ts')
    const ui = await openUi(session, {opens: flags['look-only'] ? 'look' : 'page'}, context)
    this.follow(ui.link, ui.text)
    await ui.stay(flags.open)
  }
}
