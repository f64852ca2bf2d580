import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class SweepList extends BaseCommand {
  static override summary = 'list sweeps, newest first'
  static override description =
    'Lists the sweeps of this project, or of all with --all: what each tries, how far it is, its best trial. A sweep whose command is gone can be resumed. If the head node does not answer, the error says what this machine knows about background processes that drive sweeps.'
  static override examples = ['<%= config.bin %> sweep list', '<%= config.bin %> sweep list --all --json']
  static override flags = {
    all: Flags.boolean({char: 'a', description: 'sweeps of every project'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(SweepList)
    const [context, {rack, fleet, manifest}] = [await this.context(), await this.session(flags)]
    const [{listSweeps}, {sweepListText}, {throwWithDrivers}] = await Promise.all([
      import('../../lib/sweep/index.ts'),
      import('../../cli/sweep/text.ts'),
      import('../../cli/sweep/unreached.ts'),
    ])
    const project = manifest?.name
    const sweeps = await listSweeps({rack, fleet, project}, {all: flags.all}, context).catch((error: unknown) =>
      throwWithDrivers(error, {project: flags.all ? undefined : project}, context),
    )
    return this.answer(sweeps, sweepListText)
  }
}
