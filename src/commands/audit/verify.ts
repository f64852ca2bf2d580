import {Flags} from '@oclif/core'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class AuditVerify extends HeadCommand {
  static override summary = "check that nobody has changed the head's log"
  static override description =
    'Fetches the log and checks every line here: changed, missing and swapped lines are named, and the exit status is 3. ' +
    'That its last lines were cut off, or all of it was written anew, is told from the end that this machine saw the last time, and from --anchor: the end that an earlier check has printed.'
  static override examples = [
    '<%= config.bin %> audit verify',
    '<%= config.bin %> audit verify --anchor 812:5f0c0e3dc9d3a4a6d4dc8fa4ac0e0d8a5d8a1f6c1b8d3b1f9b2e7a6c5d4e3f20',
  ]
  static override flags = {
    anchor: Flags.string({helpValue: 'LINE:HASH', description: 'a line that must be there'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(AuditVerify)
    const [{anchorOf, verifyAudit}, {checkText}, {CliError}] = await Promise.all([
      import('../../lib/audit/index.ts'),
      import('../../cli/audit/text.ts'),
      import('../../lib/base/index.ts'),
    ])
    const anchor = flags.anchor === undefined ? undefined : anchorOf(flags.anchor)
    if (flags.anchor !== undefined && !anchor)
      throw new CliError('USAGE', `"${flags.anchor}" is no anchor: a line's number, a colon, and 64 hexadecimal digits`)
    return this.askHead(flags, async (head, {rack}, context) => {
      const check = await verifyAudit(rack.name, head, anchor, context)
      if (check.faults.length > 0) process.exitCode = 3
      return this.answer(check, checkText)
    })
  }
}
