import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class NotebookOpen extends BaseCommand {
  static override summary = 'reach a notebook from this machine'
  static override description =
    'Forwards a port of 127.0.0.1 to the notebook and prints the address that logs a browser in. The forward stays until Ctrl-C; after a lost connection it comes back at the same port, and the page goes on. Kernels and variables live on in any case. The address has the token in it: whoever reads it may use the notebook.'
  static override examples = ['<%= config.bin %> notebook open', '<%= config.bin %> notebook open --port 8888 --open']
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {
    port: Flags.integer({description: 'port of this machine (default: one that is free)', min: 1, max: 65535}),
    open: Flags.boolean({description: 'open the browser'}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(NotebookOpen)
    const session = await this.session(flags)
    const context = await this.context()
    const [{oneNotebook}, {projectName}, {forwardNotebook}] = await Promise.all([
      import('../../cli/notebook/open.ts'),
      import('../../cli/workspace/nodes.ts'),
      import('../../cli/notebook/forward.ts'),
    ])
    const project = projectName(args.project, session.manifest)
    const {host} = await oneNotebook(session, project, flags.on, context)
    await forwardNotebook(
      session,
      host,
      project,
      {port: flags.port, browser: flags.open, json: this.jsonEnabled()},
      (value, text) => this.follow(value, text),
      context,
    )
  }
}
