import type {
  Answer,
  EndpointDetails,
  EndpointSummary,
  Release,
  ReplicaStatus,
  Tensor,
} from '../../lib/endpoint/index.ts'
import {count} from '../../lib/base/index.ts'
import {canaryDeployedText, canaryShare, canaryText, queueText, trafficText} from './traffic-text.ts'
import {eventsText, scalingText} from './scaling-text.ts'
import {gpuText, leaseText} from './gpu-text.ts'
import {ago, fields, table} from '../terminal/render.ts'

export interface ChangeAnswer {
  command: 'deploy' | 'rollback' | 'scale' | 'promote' | 'abort'
  changed: boolean
  /** Where endpoints of several racks were named. */
  rack?: string
  endpoint: EndpointSummary
}

export interface ShowAnswer extends EndpointDetails {
  /** Only with --show-token. */
  token?: string
}

/** What `endpoint invoke` takes, as an example. */
const INPUTS: Record<EndpointSummary['protocol'], string> = {
  v2: '--input FILE.npy',
  openai: "--data 'Hello'",
  mlflow: '--input FILE.csv',
}

const FAILING = 'no model server answers'

export function endpointListText(endpoints: EndpointSummary[]): string {
  if (endpoints.length === 0) return 'No endpoints yet. Deploy a model: flexrack endpoint deploy NAME'
  const rows = endpoints.map((one) => ({
    name: one.name,
    state: one.state,
    model: one.model,
    release: one.canary ? `${one.release}, ${canaryShare(one.canary)}` : one.release,
    replicas: replicasText(one),
    since: one.since && ago(one.since),
    url: one.url,
  }))
  const failing = endpoints
    .filter((one) => one.state === 'failing')
    .map(({name}) => `${name}: ${FAILING}; which, and the way out: flexrack endpoint show ${name}`)
  return [
    table(rows, ['name', 'state', 'model', 'release', {key: 'replicas', align: 'right'}, 'since', 'url']),
    ...failing,
  ].join('\n')
}

/** Of several that were switched together. */
export function changesText(changes: ChangeAnswer[]): string {
  return changes.map((one) => changeText(one).split('\n')[0]).join('\n')
}

export function changeText({command, changed, rack, endpoint}: ChangeAnswer): string {
  const {model, release, protocol, callUrl} = endpoint
  const name = rack === undefined ? endpoint.name : `${endpoint.name}@${rack}`
  if (!changed)
    return command === 'scale'
      ? `Endpoint ${name} has ${serversOf(endpoint)} already.`
      : `Endpoint ${name} serves ${model} already (release ${release}).`
  if (endpoint.canary) return canaryDeployedText(endpoint, endpoint.canary)
  const how = {deploy: 'serves', promote: 'serves', rollback: 'is back to', abort: 'is back to', scale: 'serves'}[
    command
  ]
  const lines = [
    `Endpoint ${name} ${how} ${model} (release ${release}, ${serversOf(endpoint)}).`,
    fields([['url', callUrl]]),
  ]
  if (command === 'deploy')
    lines.push('', `Next: flexrack endpoint invoke ${name} ${INPUTS[protocol]}`, `      flexrack endpoint show ${name}`)
  return lines.join('\n')
}

/** `2`, or of a range `2 of 0..4`. */
function replicasText({replicas, range}: EndpointSummary): string {
  return range ? `${replicas} of ${range.min}..${range.max}` : String(replicas)
}

function serversOf({replicas, range}: EndpointSummary): string {
  return range ? `${range.min} to ${range.max} replicas, as the head chooses` : count(replicas, 'replica')
}

const STATES: Partial<Record<EndpointSummary['state'], string>> = {
  failing: `failing: ${FAILING}`,
  asleep: 'asleep: a request starts a server, and waits for it',
  waking: 'waking: a server is starting, and requests wait for it',
}

export function endpointShowText(one: ShowAnswer): string {
  const head = fields([
    ['endpoint', one.name],
    ['state', STATES[one.state] ?? one.state],
    ['model', one.model],
    ['release', one.release],
    ['runtime', one.runtime],
    ['servers', one.scaling && scalingText(one, one.scaling)],
    ['since', one.since && ago(one.since)],
    ['url', one.callUrl],
    ['at the standby', one.standbyUrl],
    ['canary', one.canary && canaryText(one.canary)],
    ['queue', queueText(one.queue)],
    ['pages', one.cors.length > 0 ? `those of ${one.cors.join(', ')} may call it (CORS)` : undefined],
    ['rollback', one.rollback && `to ${one.rollback}: flexrack endpoint rollback ${one.name}`],
    ['token', one.token],
  ])
  const call = [
    `Call it, where that address is reachable${one.token ? '' : ` (the token: flexrack endpoint show ${one.name} --show-token)`}:`,
    `  curl${one.certificates === undefined ? '' : ` --cacert ${one.certificates}`} -H "Authorization: Bearer ${one.token ?? '$TOKEN'}" -H 'Content-Type: application/json' -d @request.json ${one.callUrl}${one.protocol === 'openai' ? '/chat/completions' : ''}`,
  ].join('\n')
  const broken = one.servers.some(
    (server) => !server.place && ['failed', 'lost', 'stopped', 'absent'].includes(server.state),
  )
  const repair = broken ? `Not every server runs: flexrack endpoint deploy ${one.name} brings them up again.` : ''
  return [
    head,
    trafficText(one),
    serversText(one.servers),
    eventsText(one.scaling),
    repair,
    releasesText(one.releases),
    call,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function serversText(servers: ReplicaStatus[]): string {
  const rows = servers.map((one) => ({
    server: one.service,
    node: one.node,
    state: one.place === undefined || one.place === 'ready' ? one.state : one.place,
    served: String(one.served),
    'in flight': String(one.inFlight),
    ...(one.gpus.length > 0 && {gpu: gpuText(one.gpus), memory: leaseText(one.gpus)}),
    restarts: one.restarts > 0 ? `${one.restarts} (last: ${one.exit ?? 'unknown'})` : '0',
    target: one.url,
  }))
  return table(rows, [
    'server',
    'node',
    'state',
    {key: 'served', align: 'right'},
    {key: 'in flight', align: 'right'},
    ...(servers.some(({gpus}) => gpus.length > 0) ? ['gpu', 'memory'] : []),
    'restarts',
    'target',
  ])
}

function releasesText(releases: Release[]): string {
  const rows = releases.map((one) => ({
    release: one.id,
    state: one.rejected ? `${one.state}, rolled back from` : one.state,
    model: `${one.model.name}/${one.model.version}`,
    made: ago(one.createdAt),
    by: one.by,
    note: one.reason ?? one.verdict,
  }))
  return table(rows, ['release', 'state', 'model', 'made', 'by', 'note'])
}

/** The outputs, a row of the first dimension a line; long ones are cut. */
export function answerText(answer: Answer): string {
  if ('protocol' in answer)
    return `${saidBy(answer.answer) ?? JSON.stringify(answer.answer, null, 2)}\n\n${answer.milliseconds} ms`
  const outputs = answer.outputs.map(
    (output) => `${output.name}  ${output.datatype} (${output.shape.join(', ')})\n${rowsText(output)}`,
  )
  return [
    ...outputs,
    `${answer.model_name}${answer.model_version ? ` version ${answer.model_version}` : ''}, ${answer.milliseconds} ms`,
  ].join('\n\n')
}

/** What a language model said, where that is all that was asked. */
function saidBy(answer: unknown): string | undefined {
  const [choice] = (answer as {choices?: {message?: {content?: unknown}; text?: unknown}[]} | null)?.choices ?? []
  const text = choice?.message?.content ?? choice?.text
  return typeof text === 'string' ? text : undefined
}

const MOST_ROWS = 20
const MOST_VALUES = 16

function rowsText({shape, data}: Tensor): string {
  const flat = data.flat(Infinity)
  const rows = Math.max(1, shape[0] ?? 1)
  const width = Math.max(1, flat.length / rows)
  const lines = Array.from({length: Math.min(rows, MOST_ROWS)}, (_, row) => {
    const values = flat.slice(row * width, (row + 1) * width)
    const shown = values
      .slice(0, MOST_VALUES)
      .map((value) => (typeof value === 'number' && !Number.isInteger(value) ? value.toPrecision(5) : String(value)))
    const best =
      width > 1 && values.every((value) => typeof value === 'number')
        ? `   largest at ${values.indexOf(Math.max(...(values as number[])))}`
        : ''
    return `  ${row}: ${shown.join('  ')}${values.length > MOST_VALUES ? ' …' : ''}${best}`
  })
  return rows > MOST_ROWS
    ? [...lines, `  … ${rows - MOST_ROWS} more rows (--json gives all)`].join('\n')
    : lines.join('\n')
}
