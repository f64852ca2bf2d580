import {Args, Flags} from '@oclif/core'
import {dryRunFlag, projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {HeadCommand} from '../../cli/base/head-command.ts'

export default class QuotaSet extends HeadCommand {
  static override summary = 'limit what a user, a team or a project may have of the rack'
  static override description =
    'The head refuses what is over it, with the sum and by whom what is used; runs with --wait wait until there is room. It replaces what that user, team or project had. ' +
    'Runs that are not tracked at the head are not counted, and on nodes the account rules: a quota is an agreement among people who use flexrack. Slurm has its own limits.'
  static override examples = [
    '<%= config.bin %> quota set team:vision --gpus 8',
    "<%= config.bin %> quota set 'user:*' --gpus 4 --runs 3",
    '<%= config.bin %> quota set project:digits --gpu-hours 500 --soft',
    '<%= config.bin %> quota set user:alice --notebooks 2 --disk 200GiB',
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
    notebooks: Flags.string({helpValue: 'NUMBER', description: 'notebooks at once'}),
    endpoints: Flags.string({helpValue: 'NUMBER', description: 'endpoints at once'}),
    servers: Flags.string({helpValue: 'NUMBER', description: 'model servers at once, or the most of a range'}),
    disk: Flags.string({
      helpValue: 'SIZE',
      description: 'data sets on nodes, each copy, what runs keep there, and artifacts at the head: 500GiB',
    }),
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
