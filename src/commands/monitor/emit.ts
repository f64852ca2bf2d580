import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class MonitorEmit extends BaseCommand {
  static override summary = 'write what Prometheus and Grafana need to watch the rack'
  static override description =
    "prometheus.yml with the nodes' node_exporter and the head as targets, alert rules, and dashboards with Grafana's settings, into one folder. " +
    "The folder is this account's alone: in it is a token that opens the head's numbers and nothing else. Run again it replaces the files and the token. To end the token: flexrack monitor revoke."
  static override examples = [
    '<%= config.bin %> monitor emit --to ~/monitor && prometheus --config.file ~/monitor/prometheus.yml',
    '<%= config.bin %> monitor emit --to ~/monitor --dry-run',
  ]
  static override flags = {
    to: Flags.string({helpValue: 'FOLDER', required: true, description: 'folder for the files'}),
    name: Flags.string({default: 'prometheus', description: 'name of the token: one for each Prometheus'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(MonitorEmit)
    const [session, context] = [await this.session(flags), await this.context()]
    const [{emitMonitor, monitorFiles, requireOwnFolder}, {emittedText, plannedText}, {resolve}] = await Promise.all([
      import('../../lib/monitor/index.ts'),
      import('../../cli/monitor/text.ts'),
      import('node:path'),
    ])
    const folder = resolve(flags.to)
    if (flags['dry-run']) {
      await requireOwnFolder(folder)
      return this.answer({folder, files: [...monitorFiles(session.rack, undefined).keys()].toSorted()}, plannedText)
    }
    return this.answer(await emitMonitor(session, {folder, name: flags.name}, context), emittedText)
  }
}
