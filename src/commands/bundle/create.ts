import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {PARTS, type Part} from '../../cli/bundle/wish.ts'

export default class BundleCreate extends BaseCommand {
  static override summary = 'one file with all that a rack without internet needs'
  static override description =
    'Fetches, where there is internet, what environments on nodes are made from: uv, the wheels of the lock files of the head, of sweeps, of model servers and of the project, and the Pythons that they ask for where --python names others; restic, where the project is to be saved (workspace.autosave); and packs flexrack itself. ' +
    'The file has a manifest with a hash of every file in it. On the machine that the rack is used from: flexrack bundle apply.'
  static override examples = [
    '<%= config.bin %> bundle create --to lab.bundle --python 3.11',
    '<%= config.bin %> bundle create --to lab.bundle --python 3.11 --python 3.12 --machine x86_64 --machine aarch64 --for head --for project --dry-run',
  ]
  static override flags = {
    to: Flags.string({required: true, helpValue: 'FILE', description: 'file to write'}),
    python: Flags.string({
      required: true,
      multiple: true,
      multipleNonGreedy: true,
      helpValue: '3.11',
      description: 'version of Python on the nodes',
    }),
    machine: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      options: ['x86_64', 'aarch64'],
      description: 'processor of the nodes (default: that of this machine)',
    }),
    for: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      options: [...PARTS],
      description: 'what it is for (default: everything; project where there is one)',
    }),
    project: projectFlag,
    rack: rackFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(BundleCreate)
    const [{createBundle}, {planText}, {madeText}] = await Promise.all([
      import('../../cli/bundle/create.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../cli/bundle/text.ts'),
    ])
    const wish = {
      to: flags.to,
      pythons: flags.python,
      machines: flags.machine,
      parts: flags.for as Part[] | undefined,
      project: flags.project,
      rack: flags.rack,
    }
    return createBundle(wish, flags['dry-run'], await this.context(), {
      plan: (plan) => this.answer(plan, planText),
      made: (made) => this.answer(made, madeText),
    })
  }
}
