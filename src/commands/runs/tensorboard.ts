import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {planText} from '../../cli/terminal/render.ts'

export default class RunsTensorboard extends BaseCommand {
  static override summary = 'show what runs wrote for TensorBoard'
  static override description =
    'Finds the event files (events.out.tfevents.*) of the runs below their outputs and the folder that they ran in, shows them by run, attempt and rank in a TensorBoard on the node that has most of them, and forwards it to a port of 127.0.0.1. ' +
    'Files of other nodes are copied to it, and what a live run adds is shown. No package is added to the project. Nobody gets in without the address that is printed: it has a token in it. ' +
    'Ctrl-C ends all of it. If the connection is lost for good, it ends once nobody has looked for --idle.'
  static override examples = [
    '<%= config.bin %> runs tensorboard',
    '<%= config.bin %> runs tensorboard digits-k3x9a digits-p7w2c --open',
    '<%= config.bin %> runs tensorboard --rank 0 --port 6006',
  ]
  static override strict = false
  static override args = {run: Args.string({description: 'runs, or the beginnings of their ids (default: the newest)'})}
  static override flags = {
    rank: Flags.integer({min: 0, description: 'only what this rank wrote'}),
    port: Flags.integer({description: 'port of this machine (default: one that is free)', min: 1, max: 65535}),
    open: Flags.boolean({description: 'open the browser'}),
    idle: Flags.string({
      helpValue: 'TIME',
      default: '30m',
      description: 'it is ended if nobody has looked for so long: 10m, 2h, never',
    }),
    limit: Flags.string({
      helpValue: 'SIZE',
      default: '2GiB',
      description: 'more bytes of event files are refused: TensorBoard keeps much of them in memory',
    }),
    rack: rackFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {argv, flags} = await this.parse(RunsTensorboard)
    const context = await this.context()
    const [{openRunSession}, {boardText, boardWish, tellBoard}, {planBoard, showBoard}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/board/show.ts'),
      import('../../lib/board/index.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const {wish, found} = await boardWish(runs, argv as string[], flags, context)
    const plan = planBoard(wish, found)
    if (flags['dry-run']) return this.answer(plan, planText)
    const follow = <T>(value: T, text: (value: T) => string): void => this.follow(value, text)
    let closing: Promise<() => Promise<void>> | undefined
    try {
      await showBoard(
        plan,
        wish,
        {
          place: runs.place,
          port: flags.port,
          onLink: (link) => {
            follow(link, boardText)
            if (flags.open)
              closing = import('../../cli/head/ui.ts').then(({openBrowser}) => openBrowser(link.url, context))
          },
          onEvent: (event) => tellBoard(event, this.jsonEnabled(), follow, context),
        },
        context,
      )
    } finally {
      await (
        await closing
      )?.()
    }
    return undefined
  }
}
