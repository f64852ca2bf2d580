import {Args, Flags} from '@oclif/core'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class QuotaSet extends HeadCommand {
  static override summary = 'limit what a user, a team or a project may have of the rack'
  static override description =
    'The head refuses runs over it, with the sum and by whom what is used; with --wait they wait until there is room. It replaces what that user, team or project had. ' +
    'Runs that are not tracked at the head are not counted, and on nodes the account rules: a quota is an agreement among people who use flexrack. Slurm has its own limits.'
  static override examples = [
    '<%= config.bin %> quota set team:vision --gpus 8',
    "<%= config.bin %> quota set 'user:*' --gpus 4 --runs 3",
    '<%= config.bin %> quota set project:digits --gpu-hours 500 --soft',
  ]
  static override args = {
    of: Args.string({
      required: true,
      description: 'user:NAME, user:* (each user without one), team:NAME, project:NAME',
    }),
  }
  static override flags = {
    gpus: Flags.string({helpValue: 'NUMBER', description: 'GPUs at once; shares add up'}),
    'gpu-hours': Flags.string({helpValue: 'NUMBER', description: 'GPU hours in a month'}),
    runs: Flags.string({helpValue: 'NUMBER', description: 'runs at once'}),
    soft: Flags.boolean({description: 'more is told, and not refused'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(QuotaSet)
    const [{carryOutQuota, planQuota}, {quotaChangeText}, {limitsOf}] = await Promise.all([
      import('../../lib/quota/index.ts'),
      import('../../cli/quota/text.ts'),
      import('../../cli/quota/limits.ts'),
    ])
    return this.changeHead(
      flags,
      (node) => planQuota('quota set', node, {of: args.of, limits: limitsOf(flags)}),
      carryOutQuota,
      quotaChangeText,
    )
  }
}
