import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, racksFlag} from '../../cli/base/flags.ts'

export default class HeadUi extends BaseCommand {
  static override summary = "open the rack's page, and MLflow's, in a browser on this machine"
  static override description =
    'Forwards ports of this machine to the head and prints a link that logs one browser in, once, within a minute. The page shows nodes, GPUs, runs, endpoints; MLflow is one click away. ' +
    'With several racks, or --rack all, the page of each leads to the others. What the page shows of nodes is looked up from here, while somebody looks; what it does there is done as you. The forwards stay until Ctrl-C, which also logs the browser out.'
  static override examples = [
    '<%= config.bin %> head ui',
    '<%= config.bin %> head ui --open',
    '<%= config.bin %> head ui --rack lab,cloud',
    '<%= config.bin %> head ui --look-only',
  ]
  static override flags = {
    rack: racksFlag,
    project: projectFlag,
    open: Flags.boolean({description: 'open the browser'}),
    'look-only': Flags.boolean({description: 'a page that changes nothing, as for a screen on the wall'}),
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(HeadUi)
    const context = await this.context()
    const [{openUi}, {answersOf}] = await Promise.all([
      import('../../cli/head/ui.ts'),
      import('../../cli/base/racks.ts'),
    ])
    const {answers} = await this.eachRack(flags, async (session) => session)
    const ui = await openUi(answersOf(answers), {opens: flags['look-only'] ? 'look' : 'page'}, context)
    this.follow(ui.link, ui.text)
    await ui.stay(flags.open)
  }
}
