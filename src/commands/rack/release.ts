import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'

export default class RackRelease extends BaseCommand {
  static override summary = 'free what a run has reserved'
  static override description =
    'Reservations end with their run; those of a killed command end within about half a minute. This command is for the rest. ' +
    "If the run still goes on, its reservation is freed only with --force, and its ranks are ended. Another user's reservation is freed only if --user names the owner, " +
    "and only if the account on the node has the right to: the owner's account, or root."
  static override examples = [
    '<%= config.bin %> rack release digits-k3x9a',
    '<%= config.bin %> rack release digits-k3x9a --force --yes',
    '<%= config.bin %> rack release digits-k3x9a --user ada@laptop',
  ]
  static override args = {
    run: Args.string({description: 'run, or the beginning of its id, as `rack reservations` shows it', required: true}),
  }
  static override flags = {
    force: Flags.boolean({description: 'even if the run still goes on: its ranks are ended'}),
    user: Flags.string({helpValue: 'OWNER', description: 'owner, if it is not yours, as `rack reservations` shows it'}),
    on: onFlag,
    'dry-run': dryRunFlag,
    yes: yesFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RackRelease)
    const [{rack, fleet}, context] = [await this.session(flags), await this.context()]
    const [reservation, {selectNodes}, {releasedText}] = await Promise.all([
      import('../../lib/reservation/index.ts'),
      import('../../lib/rack/index.ts'),
      import('../../cli/rack/reservation-text.ts'),
    ])
    const reports = await reservation.readReservations(selectNodes(rack, flags.on, rack.nodes), fleet, context)
    for (const {node, ok, message} of reports) if (!ok) context.reporter.warn(`${node} was not asked: ${message}`)
    const chosen = reservation.planRelease(reports, args.run, {user: flags.user, force: flags.force}, context)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      return this.answer(chosen.plan, planText)
    }
    if (chosen.parts.some((one) => one.reservation.state === 'running') && !flags.yes) {
      const [{confirm}, {CliError}] = await Promise.all([
        import('../../cli/base/prompt.ts'),
        import('../../lib/base/index.ts'),
      ])
      const sure = await confirm(
        {message: `End the ranks of ${chosen.lease} (${chosen.owner}) and free its nodes?`, flag: '--yes'},
        context,
      )
      if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
    }
    return this.answer(await reservation.releaseLease(chosen, {rack, fleet}, context), releasedText)
  }
}
