import {isCliError} from '../base/index.ts'
import {serviceStatus, type ServiceStatus} from '../host/index.ts'
import type {PlaceState, QueueFigures, ScalingFigures} from '../head/index.ts'
import type {ServingProtocol} from '../protocol/index.ts'
import {requestJson} from '../tracking/index.ts'
import {
  activeRelease,
  isUnfinished,
  previousRelease,
  runningReleases,
  type EndpointRecord,
  type Release,
  type ReleaseScaling,
  type Replica,
} from './document.ts'
import {isJudged, settleJudged} from './canary-change.ts'
import {canaryStatus, trafficOf, type CanaryRecord, type CanaryStatus, type ReleaseTraffic} from './show-traffic.ts'
import {gpuUse, type ServerGpu} from './gpu-use.ts'
import {cleanLeftovers} from './leftovers.ts'
import {tryLock} from './lock.ts'
import {hostOf, type Site} from './site.ts'
import {findEndpoint, listRecords, requireEndpoint} from './store.ts'

/** The gateway itself waits 5 s for one model server, and may have to ask several. */
const ANSWER_MS = 15_000

export interface EndpointSummary {
  name: string
  /** Address of the endpoint, as nodes reach it; its calls are below it. */
  url: string
  /** The same at the standby, where one follows. */
  standbyUrl?: string
  /** What callers speak: the Open Inference Protocol v2, OpenAI's API, or that of MLflow's model server. */
  protocol: ServingProtocol
  /** Where a request goes: of OpenAI's API its base. */
  callUrl: string
  /** `digits/3`, or undefined where nothing serves. */
  model: string | undefined
  release: string | undefined
  /** That there are now. */
  replicas: number
  /** Between which numbers the head chooses; undefined: their number is fixed. */
  range: {min: number; max: number} | undefined
  /**
   * serving; asleep: no server runs, and a request starts one; waking: one is starting; failing: a request would get no
   * answer; changing: a deploy is under way or was cut off; down: there is nothing to serve.
   */
  state: 'serving' | 'asleep' | 'waking' | 'failing' | 'changing' | 'down'
  /** ISO 8601: when the active release was switched to. */
  since: string | undefined
  /** The release beside the active one. */
  canary: CanaryStatus | undefined
}

export interface ReplicaStatus extends Replica {
  release: string
  /** As the head knows it, where it chooses which run. */
  place: PlaceState | undefined
  state: ServiceStatus['state'] | 'unreachable'
  /** How often it ended by itself and was started again. */
  restarts: number
  exit: string | undefined
  inFlight: number
  served: number
  /** That it has leased; empty where it leases none, or does not run. */
  gpus: ServerGpu[]
}

export interface EndpointDetails extends EndpointSummary {
  runtime: string | undefined
  releases: Release[]
  /** Of the active release, the canary, and those that served lately. */
  traffic: ReleaseTraffic[]
  /** What waits at the gateway, and what became of it. */
  queue: QueueFigures | undefined
  servers: ReplicaStatus[]
  /** Origins of web pages that may call it. */
  cors: string[]
  /** How the head chooses their number; undefined: it is fixed. */
  scaling: (ScalingFigures & Pick<ReleaseScaling, 'target' | 'idle' | 'down' | 'startSeconds'>) | undefined
  /** What `endpoint rollback` would go back to. */
  rollback: string | undefined
  /** File here with the certificates to trust at the URL; undefined where the rack file gives the URL. */
  certificates: string | undefined
}

/** Every endpoint. What a cut-off change has left is cleaned up on the way, unless somebody is at it. */
export async function listEndpoints(site: Site): Promise<EndpointSummary[]> {
  const records = await listRecords(site.head)
  return Promise.all(records.map(async (record) => requested(site, summary(site, await tidied(site, record)))))
}

/** One endpoint with its history and the state of its servers, as their nodes tell it. */
export async function showEndpoint(site: Site, name: string): Promise<EndpointDetails> {
  const record = await tidied(site, await requireEndpoint(site.head, name))
  const {document, inFlight, served} = record
  const active = activeRelease(document)
  const releases = runningReleases(document)
  const running = releases.flatMap(({id, replicas}) => replicas.map((replica) => ({...replica, release: id})))
  const gpus = await gpuUse(site, releases)
  for (const {node, message} of gpus.unknown) site.context.reporter.warn(`GPUs of ${node} not known: ${message}`)
  const servers = await Promise.all(
    running.map(async (replica): Promise<ReplicaStatus> => {
      const host = await hostOf(site, replica.node).catch(() => undefined)
      const status = host && (await serviceStatus(host, replica.service).catch(() => undefined))
      const url = replica.url ?? ''
      return {
        ...replica,
        place: record.scaling?.places.find(({service}) => service === replica.service)?.state,
        state: status?.state ?? 'unreachable',
        restarts: status?.restarts ?? 0,
        exit: status?.exit?.text,
        inFlight: inFlight[url] ?? 0,
        served: served[url] ?? 0,
        gpus: gpus.servers.get(replica.service) ?? [],
      }
    }),
  )
  const [certificates, seen] = await Promise.all([site.head.certificates(), requested(site, summary(site, record))])
  return {
    ...seen,
    runtime: active?.runtime,
    releases: document.releases,
    traffic: trafficOf(record),
    queue: record.queue,
    servers,
    cors: document.cors ?? [],
    scaling: scalingStatus(record, active),
    rollback: previousRelease(document)?.id,
    certificates,
  }
}

async function tidied(site: Site, record: EndpointRecord): Promise<EndpointRecord> {
  if (site.isStandby || (!isUnfinished(record.document) && !isJudged(record))) return record
  const cleaned = await tryLock(site.head, record.document.name, site.context, async () => {
    const fresh = await findEndpoint(site.head, record.document.name)
    if (!fresh) return undefined
    const cleaned = {
      ...fresh,
      ...(await cleanLeftovers(site, fresh)),
      inFlight: fresh.inFlight,
      served: fresh.served,
      ...(fresh.scaling && {scaling: fresh.scaling}),
    }
    return settleJudged(site, cleaned)
  })
  return cleaned ?? record
}

/**
 * What the document says to serve is asked through the gateway, as a request would be, whether it would be answered.
 */
export async function requested(site: Site, said: EndpointSummary): Promise<EndpointSummary> {
  if (said.state !== 'serving') return said
  try {
    const ready = said.protocol === 'v2' ? 'v2/health/ready' : 'health'
    await requestJson({
      method: 'GET',
      url: `${site.head.uri}/endpoints/${encodeURIComponent(said.name)}/${ready}`,
      token: site.head.token,
      retries: 0,
      timeout: ANSWER_MS,
      signal: site.context.signal,
    })
    return said
  } catch (error) {
    if (!isCliError(error) || isCliError(error, 'INTERRUPTED')) throw error
    return {...said, state: 'failing'}
  }
}

const CALLS: Record<ServingProtocol, (name: string) => string> = {
  v2: (name) => `v2/models/${name}/infer`,
  openai: () => 'v1',
  mlflow: () => 'invocations',
}

function scalingStatus({scaling}: EndpointRecord, active: Release | undefined): EndpointDetails['scaling'] {
  if (!scaling || !active?.scaling) return undefined
  const {target, idle, down, startSeconds} = active.scaling
  return {...scaling, target, idle, down, ...(startSeconds !== undefined && {startSeconds})}
}

/** Whether one would answer is asked of those that are awake (requested). */
function stateOf(scaling: ScalingFigures | undefined): EndpointSummary['state'] {
  return ({awake: 'serving', asleep: 'asleep', waking: 'waking', stuck: 'failing'} as const)[scaling?.state ?? 'awake']
}

/** The record, said shortly. Pure. */
export function summary(site: Pick<Site, 'head' | 'standbyUri'>, record: CanaryRecord): EndpointSummary {
  const {document} = record
  const active = activeRelease(document)
  const url = `${site.head.nodeUri}/endpoints/${document.name}`
  const protocol = active?.protocol ?? 'v2'
  return {
    name: document.name,
    url,
    ...(site.standbyUri !== undefined && {standbyUrl: `${site.standbyUri}/endpoints/${document.name}`}),
    protocol,
    callUrl: `${url}/${CALLS[protocol](document.name)}`,
    model: active && `${active.model.name}/${active.model.version}`,
    release: active?.id,
    replicas: record.scaling?.ready ?? active?.replicas.length ?? 0,
    range: active?.scaling && {min: active.scaling.min, max: active.scaling.max},
    state: isUnfinished(document) ? 'changing' : active ? stateOf(record.scaling) : 'down',
    since: active?.activeAt,
    canary: canaryStatus(record),
  }
}
