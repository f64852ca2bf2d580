import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {canaryFlags} from '../../cli/endpoint/canary-flags.ts'
import {readReplicas, scalingFlags} from '../../cli/endpoint/scaling-flags.ts'
import {wordsOf} from '../../cli/base/words.ts'
import {dryRunFlag, onFlag, projectFlag, rackFlag, readyTimeoutFlag} from '../../cli/base/flags.ts'

export default class EndpointDeploy extends BaseCommand {
  static override summary = 'serve a model version behind a stable address'
  static override description =
    "Puts the version on a node, starts a model server there, waits until it is ready and has answered one request, and then switches the head's gateway to it. " +
    'The old release serves until then, and keeps serving if the new one does not become ready. No request is lost either way. ' +
    'With --canary the new release is started beside the old one and gets a part of the requests, until endpoint promote or endpoint abort; with --judge the head decides that by itself. ' +
    'Several endpoints switch at the same moment, or none of them: each waits until the others are ready. ' +
    'So do endpoints of several racks, named NAME@RACK: each head promises, and that of the first rack decides.'
  static override examples = [
    '<%= config.bin %> endpoint deploy digits',
    '<%= config.bin %> endpoint deploy digits --model digits/3 --replicas 2 --on node-1,node-2',
    '<%= config.bin %> endpoint deploy digits --replicas 0..4 --on node-1,node-2',
    '<%= config.bin %> endpoint deploy digits --canary 10%',
    '<%= config.bin %> endpoint deploy digits --canary 10,50,100 --judge --split-header x-user',
    '<%= config.bin %> endpoint deploy digits --shadow',
    '<%= config.bin %> endpoint deploy encoder decoder',
    '<%= config.bin %> endpoint deploy digits@lab digits@edge',
    '<%= config.bin %> endpoint deploy digits --dry-run',
  ]
  static override strict = false
  static override args = {
    name: Args.string({required: true, description: 'name of the endpoint, or of several that switch together'}),
  }
  static override flags = {
    model: Flags.string({
      char: 'm',
      description:
        "NAME@ALIAS, NAME/VERSION or NAME (default: the manifest's, else the model of this name, @production first)",
    }),
    on: onFlag,
    replicas: Flags.string({
      helpValue: 'NUMBER|FEWEST..MOST',
      description:
        "number of model servers, or a range that the head chooses from, as requests come: 1..4, 0..4 (default: the manifest's, else as now, else 1)",
    }),
    ...scalingFlags,
    runtime: Flags.string({
      description: "recipe of the model server (default: the manifest's, else what fits the model)",
    }),
    timeout: readyTimeoutFlag,
    ...canaryFlags,
    force: Flags.boolean({description: 'deploy again what is already served'}),
    'dry-run': dryRunFlag,
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {raw, flags} = await this.parse(EndpointDeploy)
    const [{deployNamed}, {changesText, changeText}, {planText}, {readCanary}] = await Promise.all([
      import('../../cli/endpoint/deploy.ts'),
      import('../../cli/endpoint/text.ts'),
      import('../../cli/terminal/render.ts'),
      import('../../lib/endpoint/index.ts'),
    ])
    const canary = readCanary({...flags, header: flags['split-header']})
    const {model, on, runtime, timeout: seconds, force = false} = flags
    const replicas = readReplicas(flags.replicas, flags)
    const given = {...(model && {model}), ...(on && {on}), ...(replicas && {replicas}), ...(runtime && {runtime})}
    const input = {...given, force, ...(seconds && {seconds}), ...(canary && {canary})}
    const {plan, carryOut} = await deployNamed(wordsOf(raw), input, flags, await this.context())
    if (flags['dry-run']) return this.answer(await plan(), planText)
    const changes = await carryOut()
    const [only] = changes
    return only && changes.length === 1 ? this.answer(only, changeText) : this.answer(changes, changesText)
  }
}
