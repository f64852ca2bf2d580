import {BaseCommand} from '../cli/base/command.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag} from '../cli/base/flags.ts'
import {lockProject} from '../cli/workspace/lock.ts'

export default class Lock extends BaseCommand {
  static override summary = "write down the exact versions of the project's packages"
  static override description =
    'Chooses the newest versions that workspace.python allows, for every platform and for the Pythons of the nodes, and writes them with the hashes of their files to flexrack.lock beside the manifest. ' +
    'From then on nodes install exactly that. `check` says when the lock file does not belong to the requirements any more; running this again brings newer versions. To do without, delete the file. The first node of --on asks its package index.'
  static override examples = [
    '<%= config.bin %> lock',
    '<%= config.bin %> lock --dry-run',
    '<%= config.bin %> lock --on gpu1',
  ]
  static override flags = {rack: rackFlag, on: onFlag, project: projectFlag, 'dry-run': dryRunFlag}

  async run(): Promise<unknown> {
    const {flags} = await this.parse(Lock)
    return lockProject(
      {on: flags.on, dryRun: flags['dry-run']},
      await this.projectSession(flags),
      await this.context(),
      (value, text) => this.answer(value, text),
    )
  }
}
