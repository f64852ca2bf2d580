import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {gpuFlags} from '../../cli/gpu/request.ts'
import {wordsOf} from '../../cli/base/words.ts'

export default class WorkspaceExec extends BaseCommand {
  static override summary = 'run a command in the workspace'
  static override description =
    "Runs in the code folder, with the environment's Python first on the path and workspace.env set; in the image that `workspace up` has brought (workspace.image), and in a sandbox with workspace.isolate. On one node: stdin, stdout, stderr and the exit status are the command's own, Ctrl-C reaches it. " +
    'On several nodes each line begins with its node, and the exit status is 8 if some fail. Without --on it runs on the first node of the rack. ' +
    'With --gpus it leases GPUs from the nodes that share them (`gpu serve`), wherever they are, for as long as the command runs; unless a flag says what share, `gpus` of the manifest does.'
  static override examples = [
    '<%= config.bin %> workspace exec -- python -c "import torch; print(torch.__version__)"',
    '<%= config.bin %> workspace exec --on all -- df -h .',
    '<%= config.bin %> workspace exec --gpus 1 --memory 2GiB -- python train.py',
  ]
  static override strict = false
  static override args = {
    command: Args.string({description: 'the command, after --; its arguments follow', required: true}),
  }
  static override flags = {
    gpus: Flags.integer({description: 'number of GPUs to lease for the command', min: 1, max: 64}),
    ...gpuFlags,
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(WorkspaceExec)
    const session = await this.projectSession(flags)
    if (flags.gpus !== undefined) {
      const {runWithGpus} = await import('../../cli/workspace/gpus.ts')
      return runWithGpus(wordsOf(raw), {...flags, count: flags.gpus}, session, await this.context(), this.jsonEnabled())
    }
    const {needGpus} = await import('../../cli/gpu/request.ts')
    needGpus(flags)
    const {runInWorkspaces} = await import('../../cli/workspace/exec.ts')
    return runInWorkspaces(wordsOf(raw), flags.on, session, await this.context(), this.jsonEnabled())
  }
}
