import {Args} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class RunsUpload extends BaseCommand {
  static override summary = 'copy what a run has left to its buckets, once more'
  static override description =
    'A run with train.uploads has not finished before what it leaves is in its buckets. Where that failed, or was killed, the run says so, and its files are on its nodes still: ' +
    'this command copies them, with the remotes of this machine, and compares them. What is there already does not go again. A run that failed for its uploads alone has finished then.'
  static override examples = ['<%= config.bin %> runs upload digits-k3x9a', '<%= config.bin %> runs upload --dry-run']
  static override args = {run: Args.string({description: 'run, or the beginning of its id (default: the newest)'})}
  static override flags = {'dry-run': dryRunFlag, rack: rackFlag, project: projectFlag}

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RunsUpload)
    const context = await this.context()
    const [{openRunSession}, {planText}, {uploadedText}] = await Promise.all([
      import('../../cli/runs/open.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../cli/runs/upload-text.ts'),
    ])
    const runs = await openRunSession(flags, context)
    const found = await runs.upload(await runs.find(args.run), {dryRun: flags['dry-run']})
    return 'steps' in found ? this.answer(found, planText) : this.answer(found, uploadedText)
  }
}
