import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ModelSign extends BaseCommand {
  static override summary = 'sign where a model version comes from'
  static override description =
    'Hashes the files and the record of the run again, and signs what holds with your SSH key: a statement of in-toto, kept with the run. ' +
    '`why --signers FILE` checks it, and an endpoint demands it with `require: {signed: FILE}` in flexrack.yaml. Several people may sign the same version.'
  static override examples = [
    '<%= config.bin %> model sign digits@production',
    '<%= config.bin %> model sign digits/3 --key ~/.ssh/release.pub',
  ]
  static override args = {model: Args.string({required: true, description: 'NAME, NAME/VERSION or NAME@ALIAS'})}
  static override flags = {
    key: Flags.string({
      helpValue: 'FILE',
      description: 'private key, or the .pub of one that the agent has (default: the first of ~/.ssh)',
    }),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ModelSign)
    const context = await this.context()
    const [{signModel}, {openEvidence}, {signedText}] = await Promise.all([
      import('../../lib/lineage/index.ts'),
      import('../../cli/lineage/open.ts'),
      import('../../cli/lineage/text.ts'),
    ])
    const place = await openEvidence(await this.session(flags), context)
    return this.answer(await signModel(args.model, flags.key, place, context), signedText)
  }
}
