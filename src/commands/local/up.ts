import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base-command.ts'
import {dryRunFlag, yesFlag} from '../../cli/flags.ts'
import {localStatusText} from '../../cli/local.ts'

export default class LocalUp extends BaseCommand {
  static override summary = 'start a rack on this machine'
  static override description =
    'Starts SSH servers on 127.0.0.1, one for each node, in a background process that outlives this command, and writes the rack file "local". Each node has its own home folder. ' +
    'Run it again with another number to add or take down nodes. Settings of pip and proxies are taken from your environment when the process starts; after a change of those: local down, then up.'
  static override examples = ['<%= config.bin %> local up --nodes 3']
  static override flags = {
    nodes: Flags.integer({char: 'n', description: 'number of nodes, node-1 to node-N (default: as many as it had, else 3)'}),
    environments: Flags.directory({description: 'folder of Python environments that the nodes share (default: one of its own)', exists: false}),
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(LocalUp)
    const ctx = await this.context()
    const {localUp, planLocalUp} = await import('../../lib/local/index.ts')
    const input = {...(flags.nodes !== undefined && {nodes: flags.nodes}), ...(flags.environments && {environments: flags.environments})}
    const plan = await planLocalUp(input, ctx)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/render.ts')
      return this.answer(plan, planText)
    }
    const busy = plan.steps.filter((step) => step.kind === 'local.end' && step.input.processes !== 0).map((step) => step.node)
    if (busy.length > 0 && !flags.yes) {
      const {confirm} = await import('../../cli/prompt.ts')
      const {CliError} = await import('../../lib/base/index.ts')
      const sure = await confirm({message: `Something runs on ${busy.join(', ')}. End it?`, flag: '--yes'}, ctx)
      if (!sure) throw new CliError('INTERRUPTED', 'nothing was changed')
    }
    return this.answer(await localUp(input, ctx), localStatusText)
  }
}
