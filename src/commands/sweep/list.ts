import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {projectFlag, rackFlag} from '../../cli/flags.ts'

export default class SweepList extends BaseCommand {
  static override summary = 'list sweeps, newest first'
  static override description = "Of this project, or of all with --all: what each tries, how far it is, its best trial. A sweep whose command is gone can be resumed."
  static override examples = ['<%= config.bin %> sweep list', '<%= config.bin %> sweep list --all --json']
  static override flags = {all: Flags.boolean({char: 'a', description: 'sweeps of every project'}), rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(SweepList)
    const [context, {rack, fleet, manifest}] = [await this.context(), await this.session(flags)]
    const [{listSweeps}, {sweepListText}] = await Promise.all([import('../../lib/sweep/index.ts'), import('../../cli/sweep-text.ts')])
    return this.answer(await listSweeps({rack, fleet, project: manifest?.name}, {all: flags.all}, context), sweepListText)
  }
}
