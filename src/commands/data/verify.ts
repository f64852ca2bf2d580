import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import type {Verified} from '../../cli/data/text.ts'

export default class DataVerify extends BaseCommand {
  static override summary = 'read a version of a data set, and name what is damaged'
  static override description =
    'Reads every content: here, or with --on on nodes. The exit status is 8 where something is damaged. --fix drops it from the nodes, so that `data push` brings it anew.'
  static override examples = [
    '<%= config.bin %> data verify digits',
    '<%= config.bin %> data verify digits --on all --fix',
  ]
  static override args = {data: Args.string({required: true, description: 'NAME, or NAME@DIGEST (its beginning)'})}
  static override flags = {
    on: onFlag,
    fix: Flags.boolean({description: 'drop what is damaged from the nodes', dependsOn: ['on']}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(DataVerify)
    const context = await this.context()
    const [{dataHosts, openStore}, {verifiedText}] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/text.ts'),
    ])
    const store = await openStore(context)
    const version = await store.find(args.data)
    const {name, digest} = version
    const found: Verified[] =
      flags.on === undefined
        ? [
            {
              node: null,
              name,
              digest,
              files: version.files.length,
              bytes: version.bytes,
              bad: await store.verify(version),
            },
          ]
        : await Promise.all(
            (await dataHosts(await this.session(flags), flags.on, context)).map(async (host) => ({
              node: host.node,
              name,
              digest,
              ...(await host.call('data.verify', {digest, fix: flags.fix}, {signal: context.signal})),
            })),
          )
    if (found.some(({bad}) => bad.length > 0)) process.exitCode = 8
    return this.answer(found, verifiedText)
  }
}
