import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointLogs extends BaseCommand {
  static override summary = 'what the model servers of an endpoint print'
  static override description =
    "Shows all replicas at once, with the node's name before each line. With --json one object per line."
  static override examples = [
    '<%= config.bin %> endpoint logs digits',
    '<%= config.bin %> endpoint logs digits --follow',
    '<%= config.bin %> endpoint logs digits --release r2',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    follow: Flags.boolean({char: 'f', description: 'follow until Ctrl-C'}),
    release: Flags.string({description: 'release, such as r2 (default: the active one)'}),
    bytes: Flags.integer({description: 'bytes to show from the end of each log', default: 64 * 1024, min: 1}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<void> {
    const {args, flags} = await this.parse(EndpointLogs)
    const {endpointsOf} = await import('../../cli/endpoint/open.ts')
    const endpoints = await endpointsOf(await this.session(flags), await this.context())
    await endpoints.logs({
      name: args.name,
      follow: flags.follow,
      tail: flags.bytes,
      ...(flags.release && {release: flags.release}),
      onLine: (line) => this.follow(line, ({node, text}) => `${node}  ${text}`),
    })
  }
}
