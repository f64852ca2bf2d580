import {Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag, yesFlag} from '../../cli/base/flags.ts'
import {simFlags} from '../../cli/gpu/request.ts'
import {localStatusText} from '../../cli/local/text.ts'
import type {BackendWish} from '../../lib/gpu/index.ts'
import type {Backend} from '../../lib/protocol/index.ts'

export default class LocalUp extends BaseCommand {
  static override summary = 'start a rack on this machine'
  static override description =
    'Starts SSH servers on 127.0.0.1, one for each node, in a background process that outlives this command, and writes the rack file "local". Each node has its own home folder. ' +
    'Run it again with another number to add or remove nodes. The process takes the settings of pip and proxies from your environment when it starts; after changing those: local down, then up.'
  static override examples = ['<%= config.bin %> local up --nodes 3', '<%= config.bin %> local up --nodes 2 --gpu sim']
  static override flags = {
    nodes: Flags.integer({
      char: 'n',
      description: 'number of nodes, node-1 to node-N (default: as many as it had, else 3)',
    }),
    environments: Flags.directory({
      description: 'folder of Python environments that the nodes share (default: one of its own)',
      exists: false,
    }),
    gpu: Flags.string({
      description:
        'also share GPUs of its nodes (gpu serve): cuda; opencl, which can be the CPU; sim, GPUs in software; auto is cuda where it is found, else sim',
      options: ['auto', 'cuda', 'opencl', 'sim'],
    }),
    ...simFlags,
    'dry-run': dryRunFlag,
    yes: yesFlag,
  }

  async run(): Promise<unknown> {
    const {flags} = await this.parse(LocalUp)
    const ctx = await this.context()
    const {localStatus, localUp, planLocalUp} = await import('../../lib/local/index.ts')
    const wish = await this.wish(flags.gpu, flags)
    const before = await localStatus(ctx)
    if (wish && before.state === 'running') {
      const [{gpusOf}, {keepBackend}, session] = await Promise.all([
        import('../../cli/gpu/request.ts'),
        import('../../cli/local/gpus.ts'),
        this.session({rack: before.rackFile}),
      ])
      await keepBackend(await gpusOf(session, ctx), session.rack.nodes, wish)
    }
    const input = {
      ...(flags.nodes !== undefined && {nodes: flags.nodes}),
      ...(flags.environments && {environments: flags.environments}),
    }
    const plan = await planLocalUp(input, ctx)
    if (flags['dry-run']) {
      const {planText} = await import('../../cli/terminal/render.ts')
      const {withServing} = await import('../../cli/local/gpus.ts')
      return this.answer(wish ? withServing(plan, wish) : plan, planText)
    }
    if (!flags.yes) {
      const {confirmEnding} = await import('../../cli/local/ending.ts')
      await confirmEnding(plan, ctx)
    }
    const status = await localUp(input, ctx)
    if (wish) {
      const [{gpusOf}, session] = await Promise.all([
        import('../../cli/gpu/request.ts'),
        this.session({rack: status.rackFile}),
      ])
      await (await gpusOf(session, ctx)).serve(session.rack.nodes, wish)
    }
    return this.answer(status, localStatusText)
  }

  /** What its nodes are to share, if anything. */
  private async wish(gpu: string | undefined, flags: Record<string, unknown>): Promise<BackendWish | undefined> {
    const {simOf} = await import('../../cli/gpu/request.ts')
    const sim = await simOf(flags, gpu === 'sim' || gpu === 'auto', '--gpu sim')
    if (gpu === undefined) return undefined
    return gpu === 'auto' ? {otherwise: 'sim', ...sim} : {backend: gpu as Backend, ...sim}
  }
}
