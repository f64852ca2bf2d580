import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class NotebookLogs extends BaseCommand {
  static override summary = 'what the server of a notebook prints'
  static override description =
    'Also why a kernel did not start, and what of flexrack was done to it. What cells print is in the notebook. With --json one object per line.'
  static override examples = ['<%= config.bin %> notebook logs', '<%= config.bin %> notebook logs digits --follow']
  static override args = {project: Args.string({description: 'name of the project (default: that of flexrack.yaml)'})}
  static override flags = {
    follow: Flags.boolean({char: 'f', description: 'follow until Ctrl-C'}),
    bytes: Flags.integer({description: 'bytes to show from the end of the log', default: 64 * 1024, min: 1}),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(NotebookLogs)
    const session = await this.session(flags)
    const context = await this.context()
    const [{oneNotebook, printLog}, {projectName}] = await Promise.all([
      import('../../cli/notebook/open.ts'),
      import('../../cli/workspace/nodes.ts'),
    ])
    const {host, notebook} = await oneNotebook(session, projectName(args.project, session.manifest), flags.on, context)
    await printLog(
      host,
      notebook.project,
      {follow: flags.follow, tail: flags.bytes},
      (line) => this.follow({line}, (one) => one.line),
      context,
    )
  }
}
