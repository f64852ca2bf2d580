import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {pullFiles} from '../../cli/workspace/pull.ts'

export default class WorkspacePull extends BaseCommand {
  static override summary = 'bring back what was made or edited on a node'
  static override description =
    'Compares three sides: what was synced last, the project here, the node. What only the node has changed comes; what both have changed is named, and comes with --overwrite or --to alone: --to brings everything to a folder of its own, where diff and merge tools find both. ' +
    'New files come, too, but for what .gitignore and workspace.sync.exclude name, and large ones: those come where they are named. What was removed on the node stays here.'
  static override examples = [
    '<%= config.bin %> workspace pull',
    '<%= config.bin %> workspace pull --on node-2 notebooks/ --dry-run',
    '<%= config.bin %> workspace pull --to ../theirs && diff -ru ../theirs .',
  ]
  static override args = {path: Args.string({description: 'file or folder of the project (default: all)'})}
  static override strict = false
  static override flags = {
    overwrite: Flags.boolean({description: "take the node's also where both sides have changed a file"}),
    to: Flags.string({
      description: 'a new folder that all of it comes to; the project stays as it is',
      helpValue: 'FOLDER',
      exclusive: ['overwrite'],
    }),
    rack: rackFlag,
    on: onFlag,
    project: projectFlag,
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {argv, flags} = await this.parse(WorkspacePull)
    return pullFiles(
      {...flags, dryRun: flags['dry-run'], paths: argv as string[]},
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
