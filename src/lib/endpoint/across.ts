import {randomUUID} from 'node:crypto'
import {setTimeout as pause} from 'node:timers/promises'
import {CliError} from '../base/index.ts'
import type {HeadConnection} from '../head/index.ts'
import type {EndpointDocument, EndpointRecord} from './document.ts'

/** One rack of a switch, and what is to be changed there. */
export interface Part {
  rack: string
  head: HeadConnection
  changes: {record: Pick<EndpointRecord, 'revision'>; document: EndpointDocument}[]
}

/** What was decided is not known, or not yet done: what serves and what was started have both to go on. */
export class Undecided extends CliError {}

type State = 'promised' | 'committed' | 'dropped'

/** So long heads wait for who commands; then they settle it between them. */
const LEASE_SECONDS = 30
const TRY_SECONDS = 20
const PAUSE_MS = 500

/**
 * Endpoints of several racks that switch all or none. Every head promises; the first one decides, by one write; the others
 * are told. Nobody has switched before all have promised, so there is nothing to take back; and what was decided is done,
 * also where who commands dies: the others' heads then ask the first (docs/adr/0068). Gives the records, or why not, of
 * each part. Errors: where none was switched, of the head that has not promised; Undecided.
 */
export async function switchAcross(
  parts: readonly Part[],
  {lease = LEASE_SECONDS, seconds = TRY_SECONDS}: {lease?: number; seconds?: number} = {},
): Promise<PromiseSettledResult<EndpointRecord[]>[]> {
  const id = randomUUID()
  const [first, ...others] = parts
  if (!first) return []
  const racks = parts.map(({rack}) => rack)
  try {
    await promise(first, id, {racks, lease_seconds: lease})
    const {token} = await first.head.request<{token: string}>('POST', '/flexrack/v1/tokens', {
      kind: 'joint',
      joint: id,
      ttl_seconds: 90 * 24 * 3600,
    })
    const leader = {url: first.head.nodeUri, ca: first.head.nodeCa ?? null, token}
    await allOf(others.map((part) => promise(part, id, {racks, lease_seconds: lease, leader})))
  } catch (error) {
    await drop(parts, id)
    throw error
  }
  const decided = await decide(first.head, id, seconds)
  if (decided === 'dropped') {
    await drop(others, id)
    throw new CliError('TIMED_OUT', `the head of rack ${first.rack} no longer waited, so nothing was switched`)
  }
  if (decided === 'promised') throw undecided(first.rack)
  const told = await Promise.allSettled(others.map((part) => tell(part, id, seconds)))
  return [{status: 'fulfilled', value: switched(first)}, ...told]
}

function promise({head, changes}: Part, id: string, rest: object): Promise<unknown> {
  return head.request('PUT', `/flexrack/v1/joint/${id}`, {
    changes: changes.map(({record, document}) => ({name: document.name, revision: record.revision, document})),
    ...rest,
  })
}

/** Best effort: a head that is not told drops it by itself, as the first one did. */
async function drop(parts: readonly Part[], id: string): Promise<void> {
  // In order: while the first one has it undecided nobody else needs to ask.
  for (const {head} of parts)
    await head.request('POST', `/flexrack/v1/joint/${id}/decision`, {decision: 'dropped'}).catch(() => {})
}

/** What the first head has decided in the end; promised: it cannot be asked. */
async function decide(head: HeadConnection, id: string, seconds: number): Promise<State> {
  for (const until = Date.now() + seconds * 1000; ;) {
    try {
      return (await head.request<{state: State}>('POST', `/flexrack/v1/joint/${id}/decision`, {decision: 'committed'}))
        .state
    } catch {
      // A lost answer, a conflict, or a disk that filled up after the decision: it says what it has decided.
      const now = await head.request<{state: State}>('GET', `/flexrack/v1/joint/${id}`).catch(() => undefined)
      if (now && now.state !== 'promised') return now.state
      if (Date.now() > until) return 'promised'
      await pause(PAUSE_MS)
    }
  }
}

async function tell(part: Part, id: string, seconds: number): Promise<EndpointRecord[]> {
  for (const until = Date.now() + seconds * 1000; ;) {
    try {
      await part.head.request('POST', `/flexrack/v1/joint/${id}/decision`, {decision: 'committed'})
      return switched(part)
    } catch (error) {
      if (Date.now() > until) throw undecided(part.rack, error)
      await pause(PAUSE_MS)
    }
  }
}

function switched({changes}: Part): EndpointRecord[] {
  return changes.map(({record, document}) => ({revision: record.revision + 1, document, inFlight: {}, served: {}}))
}

function undecided(rack: string, cause?: unknown): Undecided {
  return new Undecided('HEAD_FAILED', `the head of rack ${rack} could not be asked or told what was decided`, {cause})
}

/** Waits for all, so that none comes after what follows; throws the first error. */
async function allOf(works: Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}
