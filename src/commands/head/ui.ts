import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {projectFlag, rackFlag} from '../../cli/flags.ts'

export default class HeadUi extends BaseCommand {
  static override summary = "open MLflow's pages in a browser here"
  static override description =
    'Forwards a port of this machine to the head and prints a link that logs one browser in, once, within a minute. The forward stays until Ctrl-C.'
  static override examples = ['<%= config.bin %> head ui', '<%= config.bin %> head ui --open']
  static override flags = {rack: rackFlag, project: projectFlag, open: Flags.boolean({description: 'open the browser'})}

  async run(): Promise<void> {
    const {flags} = await this.parse(HeadUi)
    const {rack, fleet} = await this.session(flags)
    const context = await this.context()
    const [{connectHead}, {headLinkText, openBrowser}] = await Promise.all([import('../../lib/head/index.ts'), import('../../cli/head-ui.ts')])
    const head = await connectHead(rack, fleet, context)
    const {path, expires_at: expiresAt} = await head.request<{path: string; expires_at: number}>('POST', '/flexrack/v1/login-codes')
    const link = {url: `${head.uri}${path}`, expiresAt}
    this.follow(link, headLinkText)
    if (flags.open) openBrowser(link.url, context)
    if (!context.signal.aborted) await new Promise((resolve) => context.signal.addEventListener('abort', resolve, {once: true}))
    await head.close()
  }
}
