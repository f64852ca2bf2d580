import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'
import {inputFlags} from '../../cli/endpoint/flags.ts'

export default class EndpointInvoke extends BaseCommand {
  static override summary = 'send one request to an endpoint'
  static override description =
    'Takes an Open Inference Protocol request, bare nested lists, an object of lists by input name, or a .npy array; name and type of the tensor come from the model itself. ' +
    "A single item becomes a batch of one. Where the endpoint speaks OpenAI's API: a request, or a text that a user says; where it speaks MLflow's: a request, lists, a .csv or a .npy file."
  static override examples = [
    '<%= config.bin %> endpoint invoke digits --input digits.npy',
    "<%= config.bin %> endpoint invoke iris --data '[[5.1, 3.5, 1.4, 0.2]]'",
    "<%= config.bin %> endpoint invoke chat --data 'Who are you?'",
    'cat request.json | <%= config.bin %> endpoint invoke digits --input -',
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    ...inputFlags,
    timeout: Flags.integer({
      min: 1,
      max: 86_400,
      description: 'seconds that the answer is waited for (default: as long as the endpoint lets requests wait)',
    }),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointInvoke)
    const [{endpointsOf}, {readInput}, {answerText}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/input.ts'),
      import('../../cli/endpoint/text.ts'),
    ])
    const {file, bytes} = await readInput(flags)
    const endpoints = await endpointsOf(await this.session(flags), await this.context(), {looks: true})
    return this.answer(await endpoints.invoke({name: args.name, file, bytes, timeout: flags.timeout}), answerText)
  }
}
