import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {dryRunFlag} from '../../cli/base/flags.ts'
import {rackText} from '../../cli/rack/text.ts'
import {planText} from '../../cli/terminal/render.ts'
import type {Rack} from '../../lib/rack/index.ts'

export default class RackAdd extends BaseCommand {
  static override summary = 'add nodes to a rack'
  static override description =
    'Connects to every host and writes it into the rack file; creates the rack if it does not exist. Names come from the hosts, or are given as NAME=HOST. ' +
    'Asks about an unknown host key on a terminal, or records it in known_hosts with --trust; always refuses a changed key. To undo: flexrack rack remove.'
  static override examples = [
    '<%= config.bin %> rack add lab gpu-1 gpu-2',
    '<%= config.bin %> rack add lab big=me@10.0.0.11:2222 --label gpu=a100 --trust',
    '<%= config.bin %> rack add lab spot-1 spot-2 --until 12h',
  ]
  static override args = {
    rack: Args.string({required: true, description: 'name or file of the rack'}),
    hosts: Args.string({
      required: true,
      description: 'HOST, USER@HOST, HOST:PORT, [IPV6]:PORT or NAME=HOST; one or more',
      multiple: true,
    }),
  }
  static override flags = {
    user: Flags.string({description: 'SSH user'}),
    port: Flags.integer({description: 'SSH port', min: 1, max: 65_535}),
    'identity-file': Flags.string({description: 'private key; it stays on this machine'}),
    'proxy-jump': Flags.string({description: 'hosts to go through, [user@]host[:port], separated by commas'}),
    label: Flags.string({
      description: 'label to select the nodes by, KEY=VALUE',
      multiple: true,
      multipleNonGreedy: true,
    }),
    address: Flags.string({description: 'address at which the other nodes reach this one'}),
    root: Flags.string({description: "flexrack's folder on the nodes (default: ~/.flexrack)"}),
    network: Flags.option({
      description: 'how they get packages: by themselves, through the SSH connection, or from bundles applied here',
      options: ['direct', 'through-client', 'bundle'] as const,
    })(),
    until: Flags.string({
      helpValue: 'TIME',
      description: 'when they go away by themselves: 8h, 2d, or a date; after that their silence is no failure',
    }),
    trust: Flags.boolean({description: 'record unknown host keys'}),
    probe: Flags.boolean({default: true, allowNo: true, description: 'connect to the hosts first'}),
    'dry-run': dryRunFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(RackAdd)
    const ctx = await this.context()
    const [{rackPath}, enroll, {nodeEnd}] = await Promise.all([
      import('../../lib/rack/index.ts'),
      import('../../lib/enroll/index.ts'),
      import('../../cli/rack/until.ts'),
    ])
    const nodes = enroll.parseHosts(args.hosts, {
      ...(flags.user !== undefined && {user: flags.user}),
      ...(flags.port !== undefined && {port: flags.port}),
      ...(flags['identity-file'] !== undefined && {identityFile: flags['identity-file']}),
      ...(flags['proxy-jump'] !== undefined && {proxyJump: flags['proxy-jump']}),
      ...(flags.address !== undefined && {address: flags.address}),
      ...(flags.network !== undefined && {network: flags.network}),
      ...(flags.root !== undefined && {root: flags.root}),
      ...(flags.until !== undefined && {until: nodeEnd(flags.until)}),
      labels: flags.label ?? [],
    })
    const path = rackPath(args.rack, ctx.env)
    const plan = await enroll.planAdd(path, nodes, {probe: flags.probe, trust: flags.trust})
    if (flags['dry-run']) return this.answer(plan, planText)
    const {openTerminalFleet} = await import('../../cli/base/fleet.ts')
    const fleet = flags.probe ? await openTerminalFleet(nodes, ctx, {trustNew: flags.trust}) : undefined
    return this.answer((await enroll.carryOut(plan, {fleet, ctx})) as Rack, rackText)
  }
}
