import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag} from '../cli/base/flags.ts'
import {initText} from '../cli/project/init-text.ts'
import {planText} from '../cli/terminal/render.ts'

const DEFAULT_TEMPLATE = 'pytorch-ddp'

export default class Init extends BaseCommand {
  static override summary = 'create a project from a template'
  static override description =
    'Writes a new project from a template: flexrack.yaml, code and requirements, yours to change. On a terminal it asks which template; in a pipe it takes pytorch-ddp. It overwrites existing files only with --force.'
  static override examples = [
    '<%= config.bin %> init digits',
    '<%= config.bin %> init hello --template plain',
    '<%= config.bin %> init . --name digits --dry-run',
  ]
  static override args = {folder: Args.string({default: '.', description: 'folder of the project'})}
  static override flags = {
    template: Flags.string({
      char: 't',
      description:
        'pytorch-ddp: a network on handwritten digits; pytorch-bench: how fast ResNet-50 or a GPT trains; pytorch-compile: the digits on a GPU, or on one in software; plain: the smallest project that runs',
    }),
    name: Flags.string({description: "name of the project (default: the folder's)"}),
    force: Flags.boolean({description: 'overwrite existing files'}),
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(Init)
    const {planScaffold, scaffold} = await import('../lib/project/index.ts')
    const input = {
      folder: args.folder,
      template: flags.template ?? (await this.#chooseTemplate()),
      force: flags.force,
      ...(flags.name !== undefined && {name: flags.name}),
    }
    if (flags['dry-run']) return this.answer(await planScaffold(input), planText)
    return this.answer(await scaffold(input, await this.context()), initText)
  }

  async #chooseTemplate(): Promise<string> {
    const {choose, hasTerminal} = await import('../cli/base/prompt.ts')
    if (!hasTerminal() || this.jsonEnabled()) return DEFAULT_TEMPLATE
    const {listTemplates} = await import('../lib/project/index.ts')
    const choices = (await listTemplates()).map(({name, purpose}) => ({value: name, description: purpose}))
    return choose({message: 'Which template?', flag: '--template NAME', choices}, await this.context())
  }
}
