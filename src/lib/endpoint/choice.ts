import {serviceStatus} from '../host/index.ts'
import {parseReference, resolveVersion} from '../model/index.ts'
import {gpuRequest} from '../gpu/index.ts'
import type {NodeReason} from '../placement/index.ts'
import {selectNodes, type RackNode} from '../rack/index.ts'
import type {Recipe} from '../recipe/index.ts'
import type {ModelVersion} from '../tracking/index.ts'
import type {WorkspacePlan} from '../workspace/index.ts'
import {isCliError} from '../base/index.ts'
import type {CanaryWish} from './canary.ts'
import {CUSTOM, isSameServer, planServer} from './custom.ts'
import {activeRelease, nextReleaseId, type EndpointDocument, type Release} from './document.ts'
import {whoAmI} from './lock.ts'
import {placeReplicas, serverAddress} from './placement.ts'
import type {ServerNeeds} from './needs.ts'
import {findRoom} from './room.ts'
import {recipeOf, requireOnGpus, runtimeOf} from './runtime-of.ts'
import {scalingOf, wishOf, withPrepared, readCount, type ReplicaCount, type ReplicaWish} from './scaling.ts'
import {requireSigned} from './signed.ts'
import {hostOf, type Site} from './site.ts'

export interface DeployInput {
  name: string
  /**
   * `digits@production`, `digits/3`, `digits`; default: the manifest's, else the model of the endpoint's name,
   * @production if there is that alias.
   */
  model?: string
  /** Node selector; default: where it runs now, else the head's node. */
  on?: string
  /** Default: the manifest's, else as now, else one. */
  replicas?: ReplicaCount
  runtime?: string
  /** Seconds a server may take to become ready; default: the recipe's. */
  seconds?: number
  /** Deploys anew what serves already. */
  force?: boolean
  /** Puts it beside what serves, instead of in its place. */
  canary?: CanaryWish
}

/** What a deploy will bring up. */
export interface DeployChoice {
  version: ModelVersion
  release: Release
  recipe: Recipe
  /** Why each node was taken or not, where that was chosen by what is free. */
  reasons?: NodeReason[]
  /** What nodes lack of the project, where the server is its own. */
  workspaces?: WorkspacePlan
}

/**
 * Which model version, runtime, nodes and replicas a deploy means: flags before the manifest before what is there. Only
 * looks.
 */
export async function chooseRelease(site: Site, document: EndpointDocument, input: DeployInput): Promise<DeployChoice> {
  const own = site.manifest?.endpoints[input.name]
  const active = activeRelease(document)
  const version = await chooseVersion(site, input.model ?? own?.model, input.name)
  await requireSigned(site, input.name, version)
  const needs: ServerNeeds = {
    ...(own?.gpus && {gpus: {...gpuRequest(own.gpus), remote: own.gpus.remote}}),
    ...(own?.memory !== undefined && {memory: own.memory}),
  }
  const isPlaced = needs.gpus !== undefined || needs.memory !== undefined
  const nodes = isPlaced ? selectNodes(site.rack, input.on, site.rack.nodes) : chooseNodes(site, active, input.on)
  // a node the head cannot reach is told before anything is done
  if (!isPlaced || input.on !== undefined)
    for (const node of nodes) serverAddress(site.rack, node, isOnLoopback(site) ? undefined : 'found later')
  const id = nextReleaseId(document)
  const runtime = input.runtime ?? own?.runtime ?? onGpus(await runtimeOf(site.mlflow, version), needs)
  await requireOnGpus(input.name, runtime, needs, site.context.env)
  const wish: ReplicaWish = {
    ...own?.scale,
    ...(input.replicas === undefined ? (own ?? wishOf(active)) : readCount(input.replicas)),
  }
  const least = wish.minReplicas === undefined ? wish.replicas : Math.max(1, wish.minReplicas)
  const where = {nodes, service: [input.name, id] as [string, string], first: 0, count: wish.replicas, least}
  const room = isPlaced ? await findRoom(site, needs, where) : undefined
  const places = room?.replicas ?? placeReplicas(input.name, id, nodes, wish.replicas)
  const custom =
    runtime === CUSTOM
      ? await planServer(site, input.name, [...new Set(places.map((replica) => replica.node))])
      : undefined
  // an unknown runtime is told before anything is done
  const recipe = await recipeOf(
    {runtime, ...(custom && {custom: custom.server, protocol: custom.protocol})},
    site.context.env,
  )
  const scaling = scalingOf(wish, input.seconds ?? recipe.ready.seconds, active?.scaling)
  delete scaling?.startSeconds
  const release: Release = {
    id,
    model: modelOf(version),
    runtime,
    ...(custom && {custom: custom.server}),
    ...(recipe.protocol !== 'v2' && {protocol: recipe.protocol}),
    state: 'starting',
    replicas: withPrepared(places, scaling),
    ...(scaling && {scaling}),
    ...needs,
    createdAt: new Date().toISOString(),
    by: whoAmI(),
    kept: true,
  }
  const reasons = room && {reasons: room.reasons}
  return {version, release, recipe, ...reasons, ...(custom && {workspaces: custom.workspaces})}
}

function modelOf({name, version, runId, tags}: ModelVersion): Release['model'] {
  const record = tags['flexrack.record']
  return {name, version, files: [], ...(runId && {runId}), ...(record !== undefined && {record})}
}

/** True where exactly this serves already, with every server running: nothing to do. */
export async function isServing(
  site: Site,
  document: EndpointDocument,
  wanted: Release,
  workspaces: WorkspacePlan | undefined,
): Promise<boolean> {
  const active = activeRelease(document)
  if (
    !active ||
    active.model.name !== wanted.model.name ||
    active.model.version !== wanted.model.version ||
    active.runtime !== wanted.runtime ||
    JSON.stringify([active.gpus, active.memory]) !== JSON.stringify([wanted.gpus, wanted.memory]) ||
    !isSameServer(active, wanted, workspaces?.workspaces)
  )
    return false
  const nodes = (release: Release): string =>
    release.replicas
      .map((replica) => replica.node)
      .sort()
      .join()
  const isPlaced = wanted.gpus !== undefined || wanted.memory !== undefined
  if (
    (!isPlaced && nodes(active) !== nodes(wanted)) ||
    JSON.stringify(wishOf(active)) !== JSON.stringify(wishOf(wanted))
  )
    return false
  if (active.scaling) return true // the head has it running, or starts it for a request
  const states = await Promise.all(
    active.replicas.map(async ({node, service}) => (await serviceStatus(await hostOf(site, node), service)).state),
  )
  return states.every((state) => state === 'running')
}

/** Of a runtime that has one for GPUs, that one. */
function onGpus(runtime: string, {gpus}: ServerNeeds): string {
  return runtime === 'onnx' && gpus && gpus.api !== 'opencl' ? 'onnx-cuda' : runtime
}

async function chooseVersion(site: Site, model: string | undefined, endpoint: string): Promise<ModelVersion> {
  if (model !== undefined) return resolveVersion(site.mlflow, parseReference(model))
  try {
    return await resolveVersion(site.mlflow, {name: endpoint, alias: 'production'})
  } catch (error) {
    if (!isCliError(error, 'NOT_FOUND') || !('aliases' in error.details)) throw error
    return resolveVersion(site.mlflow, {name: endpoint})
  }
}

function chooseNodes(site: Site, active: Release | undefined, on: string | undefined): RackNode[] {
  const current = site.rack.nodes.filter((node) => active?.replicas.some((replica) => replica.node === node.name))
  const head = site.rack.nodes.filter((node) => node.name === site.rack.head.node)
  return selectNodes(site.rack, on, current.length > 0 ? current : head)
}

/** A head that others do not reach has no route from them, either. */
function isOnLoopback({head, rack}: Site): boolean {
  return rack.head.url !== undefined || ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(head.nodeUri).hostname)
}
