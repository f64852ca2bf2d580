import {whoAmI} from './lock.ts'
import {requireCanary} from './canary.ts'
import {activeRelease, canaryRelease, type EndpointRecord} from './document.ts'
import type {Transition} from './plan.ts'
import type {Site} from './site.ts'
import {findEndpoint} from './store.ts'
import {carryOut} from './transition.ts'

/** The canary gets all requests, and the release that served before it ends. NOT_FOUND without a canary. */
export function promotion(site: Site, {document, rollout}: EndpointRecord): Transition {
  const {release: id} = requireCanary(document)
  const release = canaryRelease(document)
  if (!release) throw new Error(`release ${id} of endpoint ${document.name} is gone`)
  const verdict = rollout?.state === 'passed' ? rollout.verdict : undefined
  return {
    command: 'endpoint promote',
    endpoint: document.name,
    release: {...release, ...(verdict !== undefined && {verdict})},
    start: [],
    stop: activeRelease(document)?.replicas ?? [],
    headNode: site.rack.head.node,
    fetch: false,
    asksModel: false,
  }
}

/** The active release gets all requests again, and the canary ends. NOT_FOUND without a canary. */
export function abortion(site: Site, {document, rollout}: EndpointRecord, command = 'endpoint abort'): Transition {
  const {release: id} = requireCanary(document)
  const release = activeRelease(document)
  if (!release) throw new Error(`endpoint ${document.name} has canary ${id} and no active release`)
  const judged = rollout?.state === 'returned' ? rollout.verdict : undefined
  return {
    command,
    endpoint: document.name,
    release,
    start: [],
    stop: canaryRelease(document)?.replicas ?? [],
    takeBack: judged ?? `taken back by ${whoAmI()}`,
    headNode: site.rack.head.node,
    fetch: false,
    asksModel: false,
  }
}

/** Whether the judge has decided over a canary whose servers, or those before it, still run. */
export function isJudged({document, rollout}: EndpointRecord): boolean {
  return document.canary !== undefined && rollout !== undefined && rollout.state !== 'running'
}

/**
 * Does what the judge has decided: the head switches requests by itself, and has no way to nodes on which it could end
 * servers. Needs the lock. Gives the record as it is then.
 */
export async function settleJudged(site: Site, record: EndpointRecord): Promise<EndpointRecord> {
  if (!isJudged(record)) return record
  const isPassed = record.rollout?.state === 'passed'
  const change = isPassed ? promotion(site, record) : abortion(site, record)
  const {name, canary} = record.document
  site.context.reporter.note(
    `Release ${canary?.release} of endpoint ${name} ${isPassed ? 'was promoted' : 'was taken back'} by the judge: ${record.rollout?.verdict}`,
  )
  const none = (): Promise<never> => Promise.reject(new Error('no server is started'))
  await carryOut(site, record, {change, rejectOld: false, seconds: undefined, fetch: none})
  return (await findEndpoint(site.head, name)) ?? record
}
