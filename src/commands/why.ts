import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {projectFlag, rackFlag} from '../cli/base/flags.ts'

export default class WhyCommand extends BaseCommand {
  static override summary = 'where an endpoint, a model or a run comes from'
  static override description =
    'Goes from what is served back to the release, the model version, the run, and what that was made from: code, environment, data, image, and who started it where. ' +
    'With --verify all of it is hashed again, also the model files on the nodes that serve them; the first arrow that does not hold is named, and the exit status is 1. ' +
    'A name may be that of an endpoint, a run or a model, in this order; endpoint/NAME, run/ID and model/NAME say which.'
  static override examples = [
    '<%= config.bin %> why digits',
    '<%= config.bin %> why digits@production --verify',
    '<%= config.bin %> why run/digits-k3x9a --json',
  ]
  static override args = {name: Args.string({required: true, description: 'endpoint, model or run'})}
  static override flags = {
    verify: Flags.boolean({description: 'hash everything again'}),
    signers: Flags.string({
      helpValue: 'FILE',
      description:
        'allowed_signers file: one of these must have signed the model (default: what the endpoint requires)',
    }),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(WhyCommand)
    const context = await this.context()
    const [{why}, {openEvidence}, {whyText}] = await Promise.all([
      import('../lib/lineage/index.ts'),
      import('../cli/lineage/open.ts'),
      import('../cli/lineage/text.ts'),
    ])
    const session = await this.session(flags)
    const signers = flags.signers ?? session.manifest?.endpoints[args.name.replace(/^endpoint\//, '')]?.signers
    const place = {...(await openEvidence(session, context)), ...(signers !== undefined && {signers})}
    const found = await why(args.name, flags.verify, place, context)
    if (found.broken) process.exitCode = 1
    return this.answer(found, whyText)
  }
}
