import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class ModelRegister extends BaseCommand {
  static override summary = "make a run's output a version of a model"
  static override description =
    'Creates the model if it does not exist. The version records its run and the checksum of its file. A folder is a version with all that is in it.'
  static override examples = [
    '<%= config.bin %> model register digits --alias production',
    '<%= config.bin %> model register digits --run digits-k3x9a --path model.onnx',
    '<%= config.bin %> model register chat --path llama/',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the model'})}
  static override flags = {
    run: Flags.string({description: 'run (default: the newest finished run of the project)'}),
    path: Flags.string({
      description: 'artifact of the run, a file or a folder (default: its only *.onnx or *.gguf file)',
    }),
    alias: Flags.string({description: 'alias to point to the new version, such as production'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(ModelRegister)
    const [{withModels}, {registeredText}, {planText}, {planOf}] = await Promise.all([
      import('../../cli/model/open.ts'),
      import('../../cli/model/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/model/index.ts'),
    ])
    return withModels(flags, await this.context(), async (models, manifest) => {
      const {run, path, alias} = flags
      const registration = await models.findRegistration({
        name: args.name,
        ...(run && {run}),
        ...(path && {path}),
        ...(alias && {alias}),
        ...(manifest && {experiment: manifest.tracking.experiment}),
      })
      if (flags['dry-run']) return this.answer(planOf({registration}), planText)
      const {version, previous} = await models.register(registration)
      return this.answer({registration, version: version.version, previous}, registeredText)
    })
  }
}
