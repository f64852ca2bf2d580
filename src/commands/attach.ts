import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../cli/base/flags.ts'
import {gpuFlags} from '../cli/gpu/request.ts'
import {wordsOf} from '../cli/base/words.ts'

export default class Attach extends BaseCommand {
  static override summary = 'run a command here with GPUs that are in other machines'
  static override description =
    'Leases GPUs from the nodes that share them (`gpu serve`), runs the command unchanged, and returns the GPUs however the command ends. The command sees these GPUs and no others, through CUDA or OpenCL. ' +
    "Without --memory, --fraction and --whole, `gpus` of the manifest says how much; by default whole GPUs. stdin, stdout, stderr and the exit status are the command's own; with --json its output is part of the answer. --restart is for commands that can begin again, as from a checkpoint: FLEXRACK_ATTEMPT is 1, then 2 and so on."
  static override examples = [
    '<%= config.bin %> attach -- clinfo',
    '<%= config.bin %> attach -n 2 --memory 2GiB -- python train.py',
    '<%= config.bin %> attach --fraction 0.25 --wait -- ./simulate',
    '<%= config.bin %> attach -n 8 --dry-run -- ./simulate',
    '<%= config.bin %> attach --restart 3 -- python train.py',
    '<%= config.bin %> attach --mirror -- ./simulate',
  ]
  static override strict = false
  static override args = {
    command: Args.string({description: 'the command, after --; its arguments follow', required: true}),
  }
  static override flags = {
    count: Flags.integer({char: 'n', description: "how many GPUs (default: the manifest's, else 1)", min: 1, max: 64}),
    restart: Flags.integer({
      helpValue: 'N',
      description: 'start the command again, at most N times, when its GPUs are lost with their server',
      min: 1,
    }),
    mirror: Flags.boolean({
      description:
        'two GPUs of two nodes do the same: the loss of either costs nothing, and what they compute is compared',
      exclusive: ['restart'],
    }),
    'on-mismatch': Flags.string({
      description: 'what follows where they differ: no more of either, or the first one goes on alone (default: stop)',
      options: ['stop', 'primary'],
      dependsOn: ['mirror'],
    }),
    ...gpuFlags,
    'dry-run': dryRunFlag,
    on: onFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(Attach)
    const [session, context] = [await this.session(flags), await this.context()]
    const {attachHere} = await import('../cli/gpu/attach.ts')
    const answer = await attachHere(wordsOf(raw), flags, session, context, this.jsonEnabled())
    if (answer === undefined) return undefined
    const {planText} = await import('../cli/terminal/render.ts')
    return 'steps' in answer ? this.answer(answer, planText) : answer
  }
}
