import type {
  CanaryRules,
  QueueFigures,
  ReleaseFigures,
  ScalingFigures,
  ScalingRules,
  ShadowFigures,
} from '../head/index.ts'
import type {HeadRollout, ServingProtocol} from '../protocol/index.ts'
import type {QueueRules} from './queue.ts'
import type {CustomServer} from './custom.ts'
import type {CanaryWish} from './canary.ts'
import type {ServerNeeds} from './needs.ts'

/** What the head keeps about an endpoint, durably. The gateway reads `active`, `canary`, `queue` and `cors`. */
export interface EndpointDocument {
  name: string
  /** ISO 8601. */
  createdAt: string
  /** What the gateway sends requests to; null before the first release is ready and after the last was taken away. */
  active: ({release: string; targets: string[]; scaling?: ScalingRules; startSeconds?: number} & ReleaseProtocol) | null
  canary?: CanaryRules // a release beside the active one, and what it gets of the requests
  queue?: QueueRules // how requests wait at the gateway
  cors?: string[] // origins of web pages that may call it
  /** Newest first. */
  releases: Release[]
  project?: string // in which it was made
  planned?: number // servers that it comes to by a change that is under way, for quotas
}

/** What the gateway has to know of a release besides where it is. Nothing: it speaks the Open Inference Protocol v2. */
export interface ReleaseProtocol {
  protocol?: ServingProtocol
  /** Path of the model server that answers 200 once it predicts. */
  health?: string
}

/** One version of a model put to use: `r1`, `r2`, … */
export interface Release extends ReleaseProtocol, ServerNeeds {
  id: string
  model: ReleaseModel
  runtime: string
  /** Of the runtime `custom`. */
  custom?: CustomServer
  /**
   * starting: being brought up, not yet switched to. active: serves. canary: runs beside the active one. draining: switched away from, its servers not yet
   * ended. stopped: served once, can be rolled back to. failed: was never ready.
   */
  state: 'starting' | 'active' | 'canary' | 'draining' | 'stopped' | 'failed'
  replicas: Replica[]
  /** The head chooses how many of its replicas run; undefined: all do. */
  scaling?: ReleaseScaling
  createdAt: string
  /** When it was last switched to. */
  activeAt?: string
  /** user@host that deployed it. */
  by: string
  /** Why it failed, or why requests were taken from it, one sentence. */
  reason?: string
  /** What the judge found when it let it pass, one sentence. */
  verdict?: string
  /** Served before and was rolled back from: a later rollback passes it over. */
  rejected?: boolean
  /** Its model files may still be on its nodes. */
  kept: boolean
  /** Nodes on which something is being started right now: what a crash leaves there is found by this. */
  pending?: string[]
}

/** How many servers a release is to have, as the head chooses. */
export interface ReleaseScaling extends Omit<ScalingRules, 'places'> {
  /** Seconds that the slowest of those started at the deploy took to be ready; known once it was. */
  startSeconds?: number
}

export interface ReleaseModel {
  name: string
  version: string
  /** Files of the model on the nodes, with the one the server is given first. Known once they were fetched. */
  files: ModelFile[]
  runId?: string
  record?: string // SHA-256 of that run's record, as the registry named it
  /** What the version says of itself, where its runtime asks it. Known once its files were fetched. */
  needs?: ModelNeeds
}

/** Of a model that names its own environment, as MLflow's do. */
export interface ModelNeeds {
  /** Text of its requirements file. */
  requirements: string
  /** Python it was made with, such as 3.11. */
  python?: string
  /** A request that it answers, as JSON; only a small one is kept. */
  example?: string
}

export interface ModelFile {
  /** Relative, with `/`. */
  path: string
  bytes: number
  sha256: string
}

export interface Replica {
  index: number
  node: string
  /** Id of the service on that node. */
  service: string
  /** Base URL of the server as the head reaches it; undefined until it was started. */
  url?: string
  /** Its node can start it, and its deploy did not. */
  prepared?: true
  /** GPUs that were chosen for it: leased first, if they are free when it starts. */
  devices?: {node: string; id: string}[]
}

/** How many releases keep their files for a rollback. */
export const KEPT_RELEASES = 5
const HISTORY = 20 // releases are remembered at all

/** Revision as the head counts it, and what the gateway does now. */
export interface EndpointRecord {
  revision: number
  document: EndpointDocument
  /** Requests under way, by target. */
  inFlight: Record<string, number>
  served: Record<string, number> // answered since the head was started, by target
  /** How far the canary has come, where there is one. */
  rollout?: HeadRollout
  /** What became of the copies that the canary got. */
  shadow?: ShadowFigures
  /** How many servers there are, where the head chooses it. */
  scaling?: ScalingFigures
  /** By release; undefined of a head that is older than canaries. */
  figures?: Record<string, ReleaseFigures>
  /** False while a standby still goes by an older state. */
  followed?: boolean
  promised?: string // to that switch over several racks
  /** What waits; undefined of a head that is older than queues. */
  queue?: QueueFigures
}

export function newDocument(name: string, now: Date): EndpointDocument {
  return {name, createdAt: now.toISOString(), active: null, releases: []}
}

/** Id for the next release: numbers are never used twice. */
export function nextReleaseId(document: EndpointDocument): string {
  return `r${Math.max(0, ...document.releases.map((release) => Number(release.id.slice(1)))) + 1}`
}

export function activeRelease(document: EndpointDocument): Release | undefined {
  return document.releases.find((release) => release.id === document.active?.release)
}

export function canaryRelease(document: EndpointDocument): Release | undefined {
  return document.releases.find((release) => release.id === document.canary?.release)
}

/** Those whose servers are to run: the active one, and the canary. */
export function runningReleases(document: EndpointDocument): Release[] {
  return [activeRelease(document), canaryRelease(document)].flatMap((release) => release ?? [])
}

/** The release that served before the active one and was good: what a rollback goes to. */
export function previousRelease(document: EndpointDocument): Release | undefined {
  const active = activeRelease(document)
  return document.releases
    .filter(
      (release) =>
        release.state === 'stopped' &&
        !release.rejected &&
        (release.kept || !release.custom) && // code of a project is nowhere else
        release.id !== active?.id &&
        (!active || Number(release.id.slice(1)) < Number(active.id.slice(1))),
    )
    .sort((a, b) => Number(b.id.slice(1)) - Number(a.id.slice(1)))[0]
}

export function withRelease(document: EndpointDocument, id: string, change: Partial<Release>): EndpointDocument {
  return {
    ...document,
    releases: document.releases.map((release) => (release.id === id ? {...release, ...change} : release)),
  }
}

/** A copy with this release added, or put in the place of the one with its id. */
export function putRelease(document: EndpointDocument, release: Release): EndpointDocument {
  const {releases} = document
  const known = releases.some((one) => one.id === release.id)
  return {
    ...document,
    releases: known ? releases.map((one) => (one.id === release.id ? release : one)) : [release, ...releases],
  }
}

/** The switch itself: traffic goes to these replicas, what served before is draining. */
export function switchTo(
  document: EndpointDocument,
  release: Release,
  now: Date,
  rejectOld: boolean,
): EndpointDocument {
  const releases = putRelease(document, release).releases.map((one): Release => {
    if (one.id === release.id) {
      const {reason: _, rejected: __, pending: ___, ...rest} = one
      return {...rest, state: 'active', activeAt: now.toISOString(), kept: true}
    }
    return one.state === 'active' || one.state === 'canary'
      ? {...one, state: 'draining', ...(rejectOld && {rejected: true})}
      : one
  })
  const {canary: _, ...left} = document
  return {...left, active: activeOf(release), releases}
}

/** What the head goes by. */
function activeOf({id, protocol, health, replicas, scaling}: Release): NonNullable<EndpointDocument['active']> {
  const places = replicas.flatMap(({service, node, url}) => (url === undefined ? [] : [{service, node, url}]))
  return {
    release: id,
    targets: startedUrls(replicas),
    ...(protocol && {protocol}),
    ...(health && {health}),
    ...(scaling && {scaling: {...rulesOf(scaling), places}, startSeconds: scaling.startSeconds ?? 0}),
  }
}

function rulesOf({min, max, target, idle, down, longestStart}: ReleaseScaling): Omit<ScalingRules, 'places'> {
  return {min, max, target, idle, down, longestStart}
}

function startedUrls(replicas: Replica[]): string[] {
  return replicas.flatMap(({url, prepared}) => (url === undefined || prepared ? [] : [url]))
}

/** The release stands beside the active one, and gets its part of the requests. */
export function putBeside(
  document: EndpointDocument,
  release: Release,
  now: Date,
  rules: CanaryWish,
): EndpointDocument {
  const targets = startedUrls(release.replicas)
  const {pending: _, ...rest} = release
  return {
    ...putRelease(document, {...rest, state: 'canary'}),
    canary: {release: release.id, since: now.toISOString(), targets, ...rules},
  }
}

/** All requests go to the active release again; the canary is draining, and no rollback goes to it. */
export function takeBack(document: EndpointDocument, reason: string): EndpointDocument {
  const {canary, ...left} = document
  return canary ? withRelease(left, canary.release, {state: 'draining', rejected: true, reason}) : left
}

/** Which releases keep their files: the active one, the canary and the newest that one may go back to, KEPT_RELEASES in all. */
export function keptReleases(document: EndpointDocument): string[] {
  const good = document.releases.filter(({state, kept, rejected}) => state !== 'failed' && kept && !rejected)
  const running = [document.active?.release, document.canary?.release].flatMap((id) => id ?? [])
  return [...new Set([...running, ...good.map((release) => release.id)])].slice(0, KEPT_RELEASES)
}

export function nodesOf(document: EndpointDocument): string[] {
  return [
    ...new Set(
      document.releases.flatMap((release) => [
        ...release.replicas.map((replica) => replica.node),
        ...(release.pending ?? []),
      ]),
    ),
  ].sort()
}

/** True where a change was begun and not brought to its end; whoever finds it without a lock cleans up. */
export function isUnfinished(document: EndpointDocument): boolean {
  return document.releases.some(
    (release) => release.state === 'starting' || release.state === 'draining' || release.pending !== undefined,
  )
}

/**
 * The document once nothing runs but the active release and the canary: what was being started failed, what was draining is stopped.
 */
export function settled({planned: _, ...document}: EndpointDocument, reason: string): EndpointDocument {
  const releases = document.releases.map(({pending: _, ...release}): Release => {
    if (release.state === 'draining') return {...release, state: 'stopped'}
    if (release.state !== 'starting') return release
    return release.activeAt ? {...release, state: 'stopped'} : {...release, state: 'failed', reason, kept: false}
  })
  return {...document, releases}
}

/** The document after folders were pruned: who keeps files; no more history than anybody reads, but for those that serve. */
export function pruned(document: EndpointDocument): EndpointDocument {
  const keep = new Set(keptReleases(document))
  const releases = document.releases.map((release) => ({...release, kept: release.kept && keep.has(release.id)}))
  return {...document, releases: releases.filter(({id, kept}, index) => index < HISTORY || kept || keep.has(id))}
}
