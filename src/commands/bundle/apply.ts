import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag} from '../../cli/base/flags.ts'

export default class BundleApply extends BaseCommand {
  static override summary = 'verify a bundle and put it where environments find it'
  static override description =
    'Compares every file with the manifest of the bundle, and puts in place all or nothing; no network is asked. Nodes with `network: bundle` in the rack file then get uv and their packages from this machine, through SSH, and from nowhere else. ' +
    'Several bundles add up. To undo: remove the folder that it names.'
  static override examples = [
    '<%= config.bin %> bundle apply lab.bundle',
    '<%= config.bin %> bundle apply lab.bundle --dry-run',
  ]
  static override args = {file: Args.string({required: true, description: 'file that `bundle create` has written'})}
  static override flags = {'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(BundleApply)
    const [{APPLY}, {executePlan, throwIfFailed, valuesOf}, {planText}, {appliedText}] = await Promise.all([
      import('../../lib/bundle/index.ts'),
      import('../../lib/plan/index.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../cli/bundle/text.ts'),
    ])
    const context = await this.context()
    const plan = await APPLY.plan(args.file, context)
    if (flags['dry-run']) return this.answer(plan, planText)
    const outcomes = await executePlan(plan, APPLY.handlers, {context}, context)
    throwIfFailed(outcomes)
    const [applied] = valuesOf<import('../../lib/bundle/index.ts').ApplyKinds, 'bundle.apply'>(outcomes, 'bundle.apply')
    return this.answer(applied, (value) => (value ? appliedText(value) : ''))
  }
}
