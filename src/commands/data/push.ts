import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import type {DataKinds} from '../../lib/data/index.ts'

export default class DataPush extends BaseCommand {
  static override summary = 'bring a version of a data set to nodes'
  static override description =
    'Only contents that a node lacks travel; what came before a lost connection, also the beginning of a file, does not come again. Without --on it goes to all nodes of the rack. ' +
    'Where data_limit of the rack file, or the disk, leaves no room, the versions that were used longest ago give way, but for those that runs have. `train` does the same for the data that the manifest names.'
  static override examples = [
    '<%= config.bin %> data push digits',
    '<%= config.bin %> data push digits@3fa9c1 --on node-2',
  ]
  static override args = {data: Args.string({required: true, description: 'NAME, or NAME@DIGEST (its beginning)'})}
  static override flags = {on: onFlag, rack: rackFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(DataPush)
    const context = await this.context()
    const session = await this.session(flags)
    const [
      {dataHosts, hostOf, openStore},
      {pushedText},
      {planText},
      {dataSums, planPush, DATA_HANDLERS},
      {executePlan, throwIfFailed, valuesOf},
    ] = await Promise.all([
      import('../../cli/data/open.ts'),
      import('../../cli/data/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/data/index.ts'),
      import('../../lib/plan/index.ts'),
    ])
    const version = await (await openStore(context)).find(args.data)
    const hosts = await dataHosts(session, flags.on, context)
    const nodes = hosts.map(({node}) => node)
    const project = session.manifest?.name ?? 'default'
    const sums = flags['dry-run'] ? await dataSums(nodes, [version], {...session, project, context}) : []
    const plan = planPush(nodes, [version], session.rack.dataLimit ?? null, sums)
    if (flags['dry-run']) return this.answer(plan, planText)
    const outcomes = await executePlan(
      plan,
      DATA_HANDLERS,
      {...session, host: hostOf(hosts), project, context},
      context,
    )
    throwIfFailed(outcomes)
    return this.answer(valuesOf<DataKinds, 'data.push'>(outcomes, 'data.push'), pushedText)
  }
}
