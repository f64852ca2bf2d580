import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {CliError} from '../../lib/base/index.ts'

export default class HeadUi extends BaseCommand {
  static override summary = "open MLflow's pages in a browser on this machine"
  static override description =
    'Forwards a port of this machine to the head and prints a link that logs one browser in, once, within a minute. The forward stays until Ctrl-C, which also logs the browser out.'
  static override examples = ['<%= config.bin %> head ui', '<%= config.bin %> head ui --open']
  static override flags = {rack: rackFlag, project: projectFlag, open: Flags.boolean({description: 'open the browser'})}

  async run(): Promise<void> {
    const {flags} = await this.parse(HeadUi)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{connectHead}, {headLinkText, openBrowser}] = await Promise.all([
      import('../../lib/head/index.ts'),
      import('../../cli/head/ui.ts'),
    ])
    // Ctrl-C ends the wait below, not the goodbye after it.
    const head = await connectHead(rack, fleet, {...context, signal: new AbortController().signal})
    const login = await head.logIn()
    const link = {url: login.url, expiresAt: login.expiresAt}
    this.follow(link, headLinkText)
    const closeLink = flags.open ? await openBrowser(link.url, context) : undefined
    const ended = new Promise<void>((resolve) =>
      context.signal.addEventListener('abort', () => resolve(), {once: true}),
    )
    if (!context.signal.aborted) await Promise.race([ended, head.closed])
    await closeLink?.()
    const isLost = !context.signal.aborted
    if (!isLost) await login.end()
    await head.close()
    if (isLost)
      throw new CliError(
        'NODE_UNREACHABLE',
        `the connection to ${rack.head.node} was lost, and with it the page's way to the head`,
        {hint: 'flexrack head ui'},
      )
  }
}
