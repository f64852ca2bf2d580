import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class TrackingEnv extends BaseCommand {
  static override summary = 'what a notebook or another machine needs to reach the tracking server'
  static override description =
    "Makes a personal token for MLflow's API, which ends by itself, and prints it with the address and the certificates as settings of MLflow's client, for eval in a shell. " +
    'Where only SSH leads to the head, --forward gives an address of this machine, for as long as the command runs. `tracking tokens` ends a token sooner.'
  static override examples = [
    'eval "$(<%= config.bin %> tracking env)" && jupyter lab',
    "<%= config.bin %> tracking env --elsewhere --name ci | ssh ci 'umask 077; cat > lab.env'",
    '<%= config.bin %> tracking env --forward',
  ]
  static override flags = {
    name: Flags.string({description: 'what the token is for (default: you and this machine)'}),
    for: Flags.string({helpValue: 'TIME', description: 'when the token ends: 8h, 7d, at most 90d', default: '7d'}),
    elsewhere: Flags.boolean({
      description: 'for a shell of another machine: the output writes the certificates there, too',
      exclusive: ['forward', 'json'],
    }),
    forward: Flags.boolean({
      description: 'forward a port of this machine to the head until Ctrl-C, which also ends the token',
    }),
    rack: rackFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(TrackingEnv)
    const [{withHead}, {envPlan, keepForward, openAccess}, {accessText, elsewhereText}, {planText}, {tokenSeconds}] =
      await Promise.all([
        import('../../cli/tracking/open.ts'),
        import('../../cli/tracking/env.ts'),
        import('../../cli/tracking/text.ts'),
        import('../../cli/terminal/render.ts'),
        import('../../cli/tracking/length.ts'),
      ])
    const seconds = tokenSeconds(flags.for)
    const context = await this.context()
    // Ctrl-C ends the wait of --forward, not the goodbye after it.
    return withHead(
      flags,
      flags.forward ? {...context, signal: new AbortController().signal} : context,
      async (head, session) => {
        const plan = envPlan(session, {name: flags.name, seconds}, context)
        if (flags['dry-run']) return this.answer(plan, planText)
        if (flags.forward) return keepForward(head, session, plan, (access) => this.follow(access, accessText), context)
        const access = await openAccess(head, session, plan, false, context)
        if (!access.reached && !flags.elsewhere)
          context.reporter.warn(
            `this machine does not reach ${access.env.MLFLOW_TRACKING_URI}; from here: flexrack tracking env --forward`,
          )
        return this.answer(access, flags.elsewhere ? elsewhereText(session.rack.name) : accessText)
      },
    )
  }
}
