import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class RunsQueue extends HeadCommand {
  static override summary = 'show who waits for nodes and GPUs, in line, and why'
  static override description =
    'Runs that wait with `train --wait` on a rack with a head: by priority (`train.priority`), then by who had less of late, then by arrival. ' +
    'When a run starts at the latest is known where all before it have declared `train.time_limit`. Without a head nodes let first come first served; `rack reservations` shows that, and runs that are not tracked.'
  static override examples = ['<%= config.bin %> runs queue', '<%= config.bin %> runs queue --json']
  static override flags = {rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RunsQueue)
    const [{readQueue}, {queueText}] = await Promise.all([
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
    ])
    return this.askHead(flags, async (head) => this.answer(await readQueue(head), queueText))
  }
}
