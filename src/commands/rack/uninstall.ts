import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag, yesFlag} from '../../cli/base/flags.ts'
import {uninstallPlanText, uninstalledText} from '../../cli/rack/install-text.ts'

export default class RackUninstall extends BaseCommand {
  static override summary = 'remove everything of flexrack from the nodes'
  static override description =
    "Removes exactly what flexrack has listed as its own on each node, and only below its folder there: programs, environments, workspaces, runs and their logs, the head's data. " +
    'Refuses a node on which a run or a service still lives, unless --force ends it.'
  static override examples = [
    '<%= config.bin %> rack uninstall --dry-run',
    '<%= config.bin %> rack uninstall --on node-3 --yes',
  ]
  static override flags = {
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    force: Flags.boolean({description: 'end what still runs there'}),
    grace: Flags.integer({default: 10, min: 0, description: 'seconds that a process gets to end'}),
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(RackUninstall)
    const {rack, fleet} = await this.session(flags)
    const ctx = await this.context()
    const [{selectNodes}, {planUninstall, uninstallNodes}, {throwIfAnyFailed}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../lib/install/index.ts'),
      import('../../lib/nodes/index.ts'),
    ])
    const nodes = selectNodes(rack, flags.on, rack.nodes)
    const planned = await planUninstall(rack, nodes, fleet, ctx, {force: flags.force, grace: flags.grace})
    const {plan, failed} = planned
    if (flags['dry-run'] || !flags.yes) {
      throwIfAnyFailed([...failed, ...plan.steps.map((step) => ({node: step.node as string, ok: true}))])
      if (flags['dry-run'] || plan.steps.length === 0) return this.answer(plan, uninstallPlanText)
      const {confirm} = await import('../../cli/base/prompt.ts')
      const message = `Remove everything of flexrack from ${plan.steps.map((step) => step.node).join(', ')}? Runs, logs and tracking data on them are lost`
      if (!(await confirm({message, flag: '--yes'}, ctx)))
        return this.answer({removed: false}, () => 'Nothing was changed.')
    }
    const reports = await uninstallNodes(planned, nodes, fleet, ctx)
    const answer = this.answer(reports, uninstalledText)
    throwIfAnyFailed(reports)
    return answer
  }
}
