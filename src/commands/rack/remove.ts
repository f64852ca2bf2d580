import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, yesFlag} from '../../cli/base/flags.ts'
import {planText} from '../../cli/terminal/render.ts'

export default class RackRemove extends BaseCommand {
  static override summary = 'take nodes out of a rack, or remove the rack'
  static override description =
    'Changes the rack file only: nothing on the nodes is touched, and host keys stay in known_hosts. To clean the nodes first: flexrack rack uninstall. Without nodes the whole rack file is removed.'
  static override examples = ['<%= config.bin %> rack remove lab gpu-2', '<%= config.bin %> rack remove lab --yes']
  static override args = {
    rack: Args.string({required: true, description: 'name or file of the rack'}),
    nodes: Args.string({description: 'names of nodes (default: all)', multiple: true}),
  }
  static override flags = {
    force: Flags.boolean({description: 'even the node that runs the head, or the rack "local"'}),
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RackRemove)
    const ctx = await this.context()
    const names = args.nodes ?? []
    const [{loadRack}, {carryOut, planRemove}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../lib/enroll/index.ts'),
    ])
    const rack = await loadRack(args.rack, ctx.env)
    const plan = planRemove(rack, names, flags.force)
    if (flags['dry-run']) return this.answer(plan, planText)
    if (!flags.yes) {
      const {confirm} = await import('../../cli/base/prompt.ts')
      if (!(await confirm({message: `${plan.steps[0]?.title}?`, flag: '--yes'}, ctx)))
        return this.answer({removed: false}, () => 'Nothing was changed.')
    }
    const rest = await carryOut(plan, {fleet: undefined, ctx})
    const value = {
      rack: rack.name,
      removed: names.length > 0 ? names : rack.nodes.map((node) => node.name),
      left: rest?.nodes.map((node) => node.name) ?? [],
    }
    return this.answer(value, () =>
      rest
        ? `${names.join(', ')} taken out of ${rack.name}; left: ${value.left.join(', ')}`
        : `The rack ${rack.name} is removed.`,
    )
  }
}
