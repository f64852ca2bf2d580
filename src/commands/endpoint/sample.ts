import {Args, Flags} from '@oclif/core'
import {BaseCommand} from '../../cli/base/command.ts'
import {projectFlag, rackFlag} from '../../cli/base/flags.ts'

export default class EndpointSample extends BaseCommand {
  static override summary = 'keep requests and answers of an endpoint, as a file or a data set'
  static override description =
    'From now on, until there are enough or the time is over: nothing is kept while nobody asks. ' +
    'A line of JSON has a request and its answer, without headers and without who asked. ' +
    'Values under names such as password and api_key are left out, and so is what --redact names. ' +
    'Where something is to be redacted, bodies that are not JSON are left out whole. ' +
    'Bodies over 1 MiB are not in it. Who may deploy may do this.'
  static override examples = [
    '<%= config.bin %> endpoint sample digits --requests 200 --data digits-traffic',
    "<%= config.bin %> endpoint sample chat --to chat.jsonl --redact 'messages.*.content' --redact 'choices.*.message.content'",
  ]
  static override args = {name: Args.string({required: true, description: 'name of the endpoint'})}
  static override flags = {
    requests: Flags.integer({min: 1, max: 100_000, default: 100, description: 'as many at most'}),
    seconds: Flags.integer({min: 1, max: 86_400, default: 60, description: 'as long at most'}),
    redact: Flags.string({
      multiple: true,
      helpValue: 'PATH',
      description: 'leave out the value there, such as messages.*.content; in requests and answers',
    }),
    to: Flags.string({helpValue: 'FILE', description: 'write a file', exactlyOne: ['to', 'data']}),
    data: Flags.string({helpValue: 'NAME', description: 'keep it as a version of this data set'}),
    rack: rackFlag,
    project: projectFlag,
  }

  async run(): Promise<unknown> {
    const {args, flags} = await this.parse(EndpointSample)
    const [{endpointsOf}, {sampleText, takeSample}] = await Promise.all([
      import('../../cli/endpoint/open.ts'),
      import('../../cli/endpoint/sample.ts'),
    ])
    const context = await this.context()
    const endpoints = await endpointsOf(await this.session(flags), context)
    const to = flags.data === undefined ? {file: flags.to ?? ''} : {data: flags.data}
    const {requests, seconds, redact = []} = flags
    return this.answer(
      await takeSample(endpoints, {name: args.name, requests, seconds, redact, to}, context),
      sampleText,
    )
  }
}
