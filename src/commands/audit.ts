import {Flags} from '@oclif/core'
import {projectFlag, rackFlag} from '../cli/base/flags.ts'
import {HeadCommand} from '../cli/base/head-command.ts'

export default class AuditList extends HeadCommand {
  static override summary = 'show what was changed and refused at the head, and by whom'
  static override description =
    'The head notes every change and every refusal in a log whose lines depend on each other; `audit verify` says whether somebody has touched it. ' +
    'What a command line says of who types is shown with whose token it was.'
  static override examples = [
    '<%= config.bin %> audit',
    '<%= config.bin %> audit --refused --since 7d',
    '<%= config.bin %> audit --action token --who alice --json',
  ]
  static override flags = {
    who: Flags.string({description: 'only of this user or token; a part of the name is enough'}),
    action: Flags.string({description: 'only this action, or all of a kind: token.issue, token'}),
    target: Flags.string({description: 'only what was done to this; a part of the name is enough'}),
    refused: Flags.boolean({description: 'only what was refused, or failed'}),
    since: Flags.string({default: 'all', description: 'start of the period: 30d, 12h, 2w, a date, or all'}),
    last: Flags.integer({default: 50, min: 1, max: 100_000, description: 'how many lines, the newest'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(AuditList)
    const [{readAudit}, {auditText}, {sinceOf}] = await Promise.all([
      import('../lib/audit/index.ts'),
      import('../cli/audit/text.ts'),
      import('../lib/usage/index.ts'),
    ])
    const since = sinceOf(flags.since, Date.now() / 1000)
    return this.askHead(flags, async (head) =>
      this.answer(await readAudit(head, {...flags, since, most: flags.last}), auditText),
    )
  }
}
