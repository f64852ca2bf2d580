import {CliError, isCliError, nearestName} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import type {EndpointDocument, EndpointRecord} from './document.ts'

interface WireRecord {
  name?: string
  revision: number
  document: EndpointDocument
  in_flight?: Record<string, number>
  served?: Record<string, number>
  rollout?: EndpointRecord['rollout'] | null
  figures?: EndpointRecord['figures']
  shadow?: EndpointRecord['shadow'] | null
  followed?: boolean
  promised?: string | null
  scaling?: EndpointRecord['scaling'] | null
  queue?: EndpointRecord['queue']
}

/** The endpoint's record, or undefined where there is none. */
export async function findEndpoint(head: HeadConnection, name: string): Promise<EndpointRecord | undefined> {
  try {
    return fromWire(await head.request<WireRecord>('GET', pathOf(name)))
  } catch (error) {
    if (isCliError(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** The endpoint's record; NOT_FOUND names the nearest. */
export async function requireEndpoint(head: HeadConnection, name: string): Promise<EndpointRecord> {
  const found = await findEndpoint(head, name)
  if (found) return found
  const names = (await listRecords(head)).map((record) => record.document.name)
  const nearest = nearestName(name, names)
  throw new CliError('NOT_FOUND', `there is no endpoint ${name}${nearest ? `; did you mean ${nearest}?` : ''}`, {
    hint: names.length > 0 ? 'flexrack endpoint list' : `flexrack endpoint deploy ${name}`,
    details: {endpoints: names},
  })
}

/** Every endpoint, by name. */
export async function listRecords(head: HeadConnection): Promise<EndpointRecord[]> {
  const answer = await head.request<{endpoints: WireRecord[]}>('GET', '/flexrack/v1/endpoints')
  return answer.endpoints.map(fromWire).sort((a, b) => a.document.name.localeCompare(b.document.name))
}

/**
 * Writes a document over the revision that was read; the gateway follows at once. CONFLICT where it changed meanwhile.
 */
export async function putEndpoint(
  head: HeadConnection,
  record: Pick<EndpointRecord, 'revision'>,
  document: EndpointDocument,
): Promise<EndpointRecord> {
  const answer = await head.request<{revision: number}>('PUT', pathOf(document.name), {
    revision: record.revision,
    document,
  })
  return {revision: answer.revision, document, inFlight: {}, served: {}}
}

/** The same for several endpoints: all of them, or none. */
export async function putTogether(
  head: HeadConnection,
  changes: readonly {record: Pick<EndpointRecord, 'revision'>; document: EndpointDocument}[],
): Promise<EndpointRecord[]> {
  const {revisions} = await head.request<{revisions: number[]}>('PUT', '/flexrack/v1/endpoints', {
    changes: changes.map(({record, document}) => ({name: document.name, revision: record.revision, document})),
  })
  return changes.map(({document}, index) => ({revision: revisions[index] ?? 0, document, inFlight: {}, served: {}}))
}

export async function deleteEndpoint(head: HeadConnection, name: string): Promise<void> {
  await head.request('DELETE', pathOf(name))
}

/** Names are part of a URL, of service ids and of folders. */
export function checkEndpointName(name: string): void {
  if (/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/.test(name)) return
  throw new CliError('USAGE', `"${name}" cannot be the name of an endpoint`, {
    hint: 'use small letters, digits and dashes, 40 at most',
  })
}

function pathOf(name: string): string {
  return `/flexrack/v1/endpoints/${encodeURIComponent(name)}`
}

function fromWire(record: WireRecord): EndpointRecord {
  const {revision, document, in_flight: inFlight = {}, served = {}, rollout, figures, shadow, queue, scaling} = record
  return {
    revision,
    document,
    inFlight,
    served,
    ...(rollout && {rollout}),
    ...(figures && {figures}),
    ...(shadow && {shadow}),
    ...(record.followed !== undefined && {followed: record.followed}),
    ...(record.promised && {promised: record.promised}),
    ...(scaling && {scaling}),
    ...(queue && {queue}),
  }
}
