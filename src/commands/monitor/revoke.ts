import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class MonitorRevoke extends BaseCommand {
  static override summary = "end the token with which a Prometheus reads the head's numbers"
  static override description =
    'At once. What monitor emit has written stays; to have a new token: flexrack monitor emit.'
  static override examples = ['<%= config.bin %> monitor revoke', '<%= config.bin %> monitor revoke office']
  static override args = {
    name: Args.string({default: 'prometheus', description: 'name that monitor emit was given'}),
  }
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(MonitorRevoke)
    const {revokeMonitor} = await import('../../lib/monitor/index.ts')
    const ended = await revokeMonitor(await this.session(flags), args.name, await this.context())
    return this.answer(ended, ({name}) => `The token ${name} opens nothing any more.`)
  }
}
