// docs/API-coverage.md: what becomes of every function, and the messages there are.
import {hex} from './cpp.ts'
import type {ApiFunction, Field, Spec} from './spec.ts'

const TITLES: Record<string, string> = {opencl: 'OpenCL', cuda: "CUDA's driver API", nvml: 'NVML', nccl: 'NCCL'}

export function coveragePage(spec: Spec): string {
  const title = TITLES[spec.api] ?? spec.api
  const count = (how: ApiFunction['how']): number => spec.functions.filter((one) => one.how === how).length
  return `# ${title}: what becomes of every function

Generated from \`native/spec/${spec.api}.*\` by \`npm run codegen\`. ${spec.functions.length} functions: ${count('forward')} ${spec.messagesOf === undefined ? 'forwarded to the\ndevice' : 'asked of the server'}, ${count('local')} answered in the client, ${count('refuse')} refused.

- **forward**: ${spec.messagesOf === undefined ? 'carried out by' : 'asked of'} the device, through the messages named.
- **local**: answered in the client, from what those messages brought before.
- **refuse**: answers an error. Each with its reason.

## Functions

| function | since | fate | messages | why |
|---|---|---|---|---|
${spec.functions.map((one) => `| \`${one.name}\` | ${one.since} | ${one.how} | ${one.messages.map((name) => `[${name}](${spec.messagesOf === undefined ? '' : `${spec.messagesOf}-coverage.md`}#messages)`).join(', ')} | ${one.reason} |\n`).join('')}
${spec.messagesOf === undefined ? messages(spec) : ''}${absentNames(spec)}`
}

function messages(spec: Spec): string {
  return `## Messages

How a frame, a field and an array are laid out is in [protocol.md](protocol.md). A \`call\` waits for its reply, a \`send\` does not, a \`notice\` comes from the server.
The meaning of the fields is in the comments of \`native/spec/${spec.api}.api\`. Behind no function of its own, but sent where memory has to move to a command, where
events of several servers meet, or when something is over: ${unnamed(spec).join(', ')}.

| op | | message | fields | reply |
|---|---|---|---|---|
${[...spec.messages]
  .sort((a, b) => a.op - b.op)
  .map((one) => `| ${hex(one.op)} | ${one.kind} | \`${one.name}\` | ${list(one.fields)} | ${list(one.reply ?? [])} |\n`)
  .join('')}
### Structures

| structure | fields |
|---|---|
${spec.structs.map(({name, fields}) => `| \`${name}\` | ${list(fields)} |\n`).join('')}`
}

/** What is asked for and answered with "not found". */
function absentNames({absent}: Spec): string {
  if (absent.length === 0) return ''
  return `
## Not found

Names that programs look up and that there are not. They see that, and go on without.

| name | why |
|---|---|
${absent.map(({name, reason}) => `| \`${name}\` | ${reason} |\n`).join('')}`
}

/** Messages that no function names. */
function unnamed(spec: Spec): string[] {
  const named = new Set(spec.functions.flatMap(({messages}) => messages))
  return spec.messages.filter(({name}) => !named.has(name)).map(({name}) => `\`${name}\``)
}

function list(fields: Field[]): string {
  return fields.map(({name, type, isArray}) => `${name}: ${type}${isArray ? '[]' : ''}`).join(', ')
}
