import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {startedText} from '../../cli/notebook/text.ts'
import {planText} from '../../cli/terminal/render.ts'

export default class NotebookStart extends BaseCommand {
  static override summary = 'start JupyterLab in the workspace, on a node'
  static override description =
    'The server has an environment of its own. Cells run in the Python of the project, to which no package is added. It listens on a unix socket that only you can open, outlives this command, and is kept running. ' +
    'A kernel that does nothing for --idle is ended, and so is the server once nobody has used it for as long; one that is at work is not. --for ends all of it. `notebook list` shows when. ' +
    'With --gpus there is a second kind of kernel: it leases GPUs of its node (`gpu serve`) when it starts, and gives them back when it ends. With --remote it leases those of other nodes, too: these let this node in for as long as the notebook lives, also while you are away. ' +
    'Where the workspace has an image, kernels and terminals are in it; with `isolate`, the server is in the sandbox with all that it starts. ' +
    'If one runs already, it is started anew, and its kernels end. Without --on it is on the first node of the rack.'
  static override examples = [
    '<%= config.bin %> notebook start',
    '<%= config.bin %> notebook start --idle 30m --for 8h',
    '<%= config.bin %> notebook start --gpus 1 --memory 4GiB --remote',
  ]
  static override flags = {
    idle: Flags.string({
      helpValue: 'TIME',
      default: '2h',
      description: 'what does nothing for so long is ended: 30m, 2h, never',
    }),
    for: Flags.string({helpValue: 'TIME', description: 'all of it is ended after so long, also what is at work'}),
    gpus: Flags.integer({description: 'number of GPUs that a kernel leases', min: 1, max: 64}),
    memory: Flags.string({
      helpValue: 'SIZE',
      description: 'memory of each, such as 2GiB: a share of a device',
      exclusive: ['fraction'],
      dependsOn: ['gpus'],
    }),
    fraction: Flags.string({
      helpValue: 'SHARE',
      description: 'this fraction of the memory and time of each, such as 0.25',
      exclusive: ['memory'],
      dependsOn: ['gpus'],
    }),
    remote: Flags.boolean({
      description: 'lease GPUs of other nodes, too, where the own one has not enough free',
      dependsOn: ['gpus'],
    }),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(NotebookStart)
    const session = await this.projectSession(flags)
    const context = await this.context()
    const [{startNotebook}, {planNotebookOf}] = await Promise.all([
      import('../../lib/notebook/index.ts'),
      import('../../cli/notebook/plan.ts'),
    ])
    const {plan, host, desk} = await planNotebookOf(flags, session, context)
    if (flags['dry-run']) return this.answer(plan, planText)
    return this.answer(await startNotebook(plan, host, context, session, desk), startedText)
  }
}
