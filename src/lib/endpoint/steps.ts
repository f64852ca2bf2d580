import {setTimeout as sleep} from 'node:timers/promises'
import {count} from '../base/index.ts'
import {stopService, type Environment} from '../host/index.ts'
import type {FromStep, Handlers, Outputs} from '../plan/index.ts'
import type {Recipe} from '../recipe/index.ts'
import {WORKSPACE_HANDLERS, type WorkspaceEnv, type WorkspaceKinds} from '../workspace/index.ts'
import {Undecided} from './across.ts'
import {awaitReplica, placeModel, prepareEnvironment, startReplica, type PlacedModel, type Started} from './bring-up.ts'
import {joinAgent} from './agent.ts'
import {keepCode, type CodePlace, type CustomServer} from './custom.ts'
import {
  putBeside,
  switchTo,
  takeBack,
  type EndpointDocument,
  type EndpointRecord,
  type ModelFile,
  type ModelNeeds,
  type Release,
  type Replica,
} from './document.ts'
import type {CanaryWish} from './canary.ts'
import {withCors} from './cors.ts'
import type {FetchedModel} from './model-files.ts'
import type {ServerGpus} from './needs.ts'
import {hostOf, type Site} from './site.ts'
import {findEndpoint, putEndpoint} from './store.ts'
import type {Joint} from './together.ts'

const DRAIN_SECONDS = 30

type FetchInput = {model: string; runtime: string}
/** `together`: other nodes get the same at the same time. */
type EnvironmentInput = {
  node: string
  endpoint: string
  runtime: string
  together: boolean
  /** What the model itself asks for. */
  needs: FromStep | ModelNeeds | null
}
type PlaceInput = {
  node: string
  endpoint: string
  release: string
  model: string
  /** With checksums: what is there whole does not travel. */
  files: FromStep | ModelFile[]
}
export type StartInput = {
  endpoint: string
  release: string
  version: string
  runtime: string
  replica: Replica
  /** null: that of a workspace, with its code. */
  environment: FromStep | null
  code: FromStep | CodePlace | null
  placed: FromStep
  /** What it leases whenever it starts. */
  gpus: ServerGpus | null
}
type CodeInput = {node: string; endpoint: string; release: string; project: string}
type ReadyInput = {
  endpoint: string
  service: string
  runtime: string
  started: FromStep
  /** null: the recipe's. */
  seconds: number | null
  needs: FromStep | ModelNeeds | null
}
type SwitchInput = {
  endpoint: string
  /**
   * As it is to be; addresses of new servers, and files that were fetched, come from the steps that made them ready.
   */
  release: Release
  ready: FromStep[]
  /** Of those that are only prepared. */
  prepared: FromStep[]
  rejectOld: boolean
  cors?: string[]
}
/** As SwitchInput, and what it gets of the requests. */
type SplitInput = Omit<SwitchInput, 'rejectOld'> & {canary: CanaryWish}
type ReturnInput = {endpoint: string; reason: string}
type DrainInput = {endpoint: string; services: string[]; urls: string[]}
type StopInput = {node: string; service: string; runtime: string}

export type EndpointKinds = {
  'endpoint.fetch': {input: FetchInput; output: FetchedModel}
  'endpoint.environment': {input: EnvironmentInput; output: Environment}
  'endpoint.place': {input: PlaceInput; output: PlacedModel}
  'endpoint.code': {input: CodeInput; output: CodePlace}
  'endpoint.start': {input: StartInput; output: Started}
  'endpoint.prepare': {input: StartInput; output: Started}
  'endpoint.agent': {input: {node: string}; output: void}
  'endpoint.ready': {input: ReadyInput; output: Started}
  'endpoint.switch': {input: SwitchInput; output: void}
  'endpoint.split': {input: SplitInput; output: void}
  'endpoint.return': {input: ReturnInput; output: void}
  'endpoint.drain': {input: DrainInput; output: void}
  /** False: it could not be ended. */
  'endpoint.stop': {input: StopInput; output: boolean}
}

/** With what brings a project to a node, for a server of its own. */
export type TransitionKinds = EndpointKinds & WorkspaceKinds

/**
 * What steps of a transition need besides the plan, and how far it has come: what is undone after a failure depends on
 * that.
 */
export interface TransitionEnv extends WorkspaceEnv {
  site: Site
  recipe(runtime: string): Promise<Recipe>
  /** Once, whoever asks first. */
  fetch(): Promise<FetchedModel>
  /** As the head has it now. */
  record: EndpointRecord
  switched: boolean
  /** Those that switch with it. */
  together: Joint | undefined
  /** The server of the project's own that is started. */
  custom: CustomServer | undefined
  /** The head could not be asked whether it switched. */
  uncertain: boolean
  /** Ports that others of this endpoint have or will have. */
  taken: Set<number>
}

type Done = Outputs<TransitionKinds>

export const ENDPOINT_HANDLERS: Handlers<TransitionKinds, TransitionEnv> = {
  ...WORKSPACE_HANDLERS,
  'endpoint.fetch': (_input, _done, {fetch}) => fetch(),
  'endpoint.environment': async ({node, endpoint, runtime, together, needs}, done, {site, recipe}) =>
    prepareEnvironment(site, node, endpoint, await recipe(runtime), together, needsOf(needs, done)),
  'endpoint.place': async ({node, endpoint, release, model, files}, done, {site, fetch}) => {
    const known = Array.isArray(files) ? files : done.of('endpoint.fetch', files).files
    return placeModel(site, node, {endpoint, release, model, files: known}, fetch)
  },
  'endpoint.code': async ({node, ...input}, _done, {site}) => keepCode(await hostOf(site, node), input),
  'endpoint.start': start,
  'endpoint.prepare': (input, done, env) => define(input, done, env, true),
  'endpoint.agent': ({node}, _done, {site}) => joinAgent(site, node),
  'endpoint.ready': ready,
  'endpoint.switch': flip,
  'endpoint.split': (input, done, env) =>
    commit(env, putBeside(env.record.document, withServers(input, done), new Date(), input.canary), input.cors),
  'endpoint.return': ({reason}, _done, env) => commit(env, takeBack(env.record.document, reason)),
  'endpoint.drain': drain,
  'endpoint.stop': stop,
}

function start(given: StartInput, done: Done, env: TransitionEnv): Promise<Started> {
  return define(given, done, env, false)
}

async function define(
  {endpoint, release, version, runtime, replica, environment, code, placed, gpus}: StartInput,
  done: Done,
  {site, recipe, taken, custom}: TransitionEnv,
  only: boolean,
): Promise<Started> {
  const place = code === null ? undefined : 'code' in code ? code : done.of('endpoint.code', code)
  return startReplica(site, {
    endpoint,
    release,
    version,
    replica,
    recipe: await recipe(runtime),
    environment: environment === null ? place?.environment?.path : done.of('endpoint.environment', environment).path,
    ...(custom && place && {own: {server: custom, place}}),
    model: done.of('endpoint.place', placed),
    taken,
    ...(gpus && {gpus}),
    define: only,
  })
}

async function ready(
  {endpoint, runtime, started, seconds, needs}: ReadyInput,
  done: Done,
  {site, recipe}: TransitionEnv,
): Promise<Started> {
  const server = done.of('endpoint.start', started)
  const {
    protocol,
    ready: {seconds: longest},
  } = await recipe(runtime)
  const known = needsOf(needs, done)
  await awaitReplica(site, server, endpoint, {seconds: seconds ?? longest, protocol, example: known?.example})
  return {...server, seconds: (Date.now() - server.begunAt) / 1000, ...(known && {needs: known})}
}

function needsOf(needs: FromStep | ModelNeeds | null, done: Done): ModelNeeds | undefined {
  if (needs === null) return undefined
  return 'requirements' in needs ? needs : done.of('endpoint.fetch', needs).needs
}

function flip(input: SwitchInput, done: Done, env: TransitionEnv): Promise<void> {
  const started = withServers(input, done)
  return commit(env, switchTo(env.record.document, started, new Date(), input.rejectOld), input.cors)
}

function withServers({release, ready: servers, prepared}: Omit<SwitchInput, 'rejectOld'>, done: Done): Release {
  return asStarted(release, [
    ...servers.map((one) => done.of('endpoint.ready', one)),
    ...prepared.map((one) => done.of('endpoint.prepare', one)),
  ])
}

/** Writes down which releases get requests: from here on the change is done. */
async function commit(env: TransitionEnv, switched: EndpointDocument, cors?: string[]): Promise<void> {
  const document = withCors(switched, cors)
  try {
    env.record = await (env.together?.put(env.record, document) ?? putEndpoint(env.site.head, env.record, document))
  } catch (error) {
    if (error instanceof Undecided) {
      env.uncertain = true
      throw error
    }
    // A lost answer does not tell whether the gateway was switched, and to end the servers it uses would be the worst
    // guess.
    const now = await findEndpoint(env.site.head, document.name).catch(() => undefined)
    env.uncertain = now === undefined
    if (routingOf(now?.document) !== routingOf(document)) throw error
    env.record = now ?? env.record
  }
  env.switched = true
}

/** What the gateway goes by. */
function routingOf(document: EndpointDocument | undefined): string {
  return JSON.stringify([document?.active?.targets, document?.canary?.since, document?.canary?.targets, document?.cors])
}

/** The release with the addresses of servers that were started, and the files that these have. Pure. */
function asStarted(release: Release, servers: Started[]): Release {
  const [first] = servers
  if (!first) return release
  const health = release.protocol && first.rendered.readyPath
  const slowest = Math.max(0, ...servers.flatMap(({seconds}) => seconds ?? []))
  return {
    ...release,
    ...(health && {health}),
    ...(release.scaling && {
      scaling: {...release.scaling, startSeconds: slowest || (release.scaling.startSeconds ?? 0)},
    }),
    ...(release.custom && {custom: {...release.custom, places: {...release.custom.places, ...placesOf(servers)}}}),
    model: {...release.model, files: first.files, ...(first.needs && {needs: first.needs})},
    replicas: release.replicas.map(
      (replica) => servers.find((one) => one.replica.service === replica.service)?.replica ?? replica,
    ),
  }
}

function placesOf(servers: Started[]): Record<string, CodePlace> {
  return Object.fromEntries(servers.flatMap(({replica, place}) => (place ? [[replica.node, place]] : [])))
}

/** Until no request is under way at the old servers, and no standby sends any there; at most DRAIN_SECONDS, then they get their grace on top. */
async function drain({endpoint, urls}: DrainInput, _done: unknown, {site}: TransitionEnv): Promise<void> {
  const end = Date.now() + DRAIN_SECONDS * 1000
  for (;;) {
    const now = await findEndpoint(site.head, endpoint)
    const busy = urls.reduce((sum, url) => sum + (now?.inFlight[url] ?? 0), 0)
    if (busy === 0 && now?.followed !== false) return
    if (Date.now() > end) {
      site.context.reporter.warn(
        `${count(busy, 'request is', 'requests are')} still under way at the old release after ${DRAIN_SECONDS} s; ` +
          'its servers are stopped all the same',
      )
      return
    }
    await sleep(100)
  }
}

/** The switch is done and stays done: a server that cannot be ended now is told, and ended by the next command. */
async function stop(
  {node, service, runtime}: StopInput,
  _done: unknown,
  {site, recipe}: TransitionEnv,
): Promise<boolean> {
  try {
    await stopService(await hostOf(site, node), service, (await recipe(runtime)).graceSeconds)
    return true
  } catch (error) {
    site.context.reporter.warn(`${service} on ${node} could not be stopped: ${(error as Error).message}`)
    return false
  }
}
