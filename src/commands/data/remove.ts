import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'
import type {RemovedData} from '../../cli/data/text.ts'

export default class DataRemove extends BaseCommand {
  static override summary = 'remove a version of a data set'
  static override description =
    'From this machine, or with --on from nodes only. What other versions have stays; a version that a run has stays, too.'
  static override examples = [
    '<%= config.bin %> data remove digits@3fa9c1',
    '<%= config.bin %> data remove digits --on node-2 --yes',
  ]
  static override args = {
    data: Args.string({required: true, description: 'NAME for the newest version, or NAME@DIGEST (its beginning)'}),
  }
  static override flags = {on: onFlag, yes: yesFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(DataRemove)
    const context = await this.context()
    const [{dataHosts, openStore}, {removedText}, {confirm}, {CliError}] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/text.ts'),
      import('../../cli/base/prompt.ts'),
      import('../../lib/base/index.ts'),
    ])
    const store = await openStore(context)
    const version = await store.find(args.data)
    const {name, digest} = version
    const hosts = flags.on === undefined ? [] : await dataHosts(await this.session(flags), flags.on, context)
    const where =
      flags.on === undefined ? 'this machine, which nodes get it from' : hosts.map(({node}) => node).join(', ')
    if (
      !flags.yes &&
      !(await confirm({message: `Remove ${name}@${digest.slice(0, 12)} from ${where}?`, flag: '--yes'}, context))
    )
      throw new CliError('INTERRUPTED', 'nothing was removed')
    const found: RemovedData[] =
      flags.on === undefined
        ? [{node: null, name, digest, removed: true, ...(await store.remove(version))}]
        : await Promise.all(
            hosts.map(async (host) => ({
              node: host.node,
              name,
              digest,
              ...(await host.call('data.remove', {digest}, {signal: context.signal})),
            })),
          )
    if (flags.on !== undefined) {
      const [{openDesk}, {dataHolding}] = await Promise.all([
        import('../../lib/holding/index.ts'),
        import('../../lib/data/index.ts'),
      ])
      const session = await this.session(flags)
      const desk = await openDesk(session, context)
      const names = hosts.map((host) => dataHolding(host.node, digest))
      await desk?.release({kind: 'data', project: session.manifest?.name ?? 'default'}, names)
    }
    return this.answer(found, removedText)
  }
}
