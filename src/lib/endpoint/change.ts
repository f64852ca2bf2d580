import {sumsFor, withSums} from './count.ts'
import {CliError} from '../base/index.ts'
import type {Plan} from '../plan/index.ts'
import {resolveVersion} from '../model/index.ts'
import type {ProjectFiles} from '../workspace/index.ts'
import type {ModelVersion} from '../tracking/index.ts'
import {requireBeside, requireNoCanary} from './canary.ts'
import {abortion, promotion, settleJudged} from './canary-change.ts'
import {chooseRelease, isServing, type DeployInput} from './choice.ts'
import {activeRelease, newDocument, previousRelease, type EndpointDocument, type EndpointRecord} from './document.ts'
import {corsOf} from './cors.ts'
import {cleanLeftovers} from './leftovers.ts'
import {withLock} from './lock.ts'
import {fetchModel} from './model-files.ts'
import {recipeOf} from './runtime-of.ts'
import {transitionPlan, type Transition} from './plan.ts'
import {startsOf, withPrepared} from './scaling.ts'
import {settlePromised} from './promised.ts'
import {requireSigned, requireSignedFiles} from './signed.ts'
import type {Site} from './site.ts'
import {checkEndpointName, findEndpoint, requireEndpoint} from './store.ts'
import type {Joint} from './together.ts'
import {carryOut} from './transition.ts'

/** A transition and what is needed to carry it out; undefined where there is nothing to do. */
export interface Prepared {
  change: Transition
  version: ModelVersion | undefined
  rejectOld: boolean
  seconds: number | undefined
  /** What was read of the project, for a server of its own. */
  files?: ProjectFiles
}

export type Prepare = (site: Site, record: EndpointRecord) => Promise<Prepared | undefined>

export interface ChangeOutcome {
  document: EndpointDocument
  /** False where it was so already. */
  changed: boolean
}

/** Looks only: the plan of a deploy, rollback or scale, for --dry-run. */
export async function planChange(site: Site, command: string, name: string, prepare: Prepare): Promise<Plan> {
  const record = (await findEndpoint(site.head, name)) ?? empty(name)
  const prepared = await prepare(site, record)
  return prepared
    ? withSums(transitionPlan(prepared.change, prepared), await sumsFor(site, record.document, prepared.change))
    : {command, steps: []}
}

/**
 * Carries a change out under the endpoint's lock, after cleaning up what an earlier one may have left. Errors: LOCKED
 * and those of carryOut.
 */
export async function applyChange(
  site: Site,
  name: string,
  prepare: Prepare,
  together?: Joint,
): Promise<ChangeOutcome> {
  return withLock(site.head, name, site.context, async (lock) => {
    const signal = together ? AbortSignal.any([lock, together.signal]) : lock
    const held: Site = {...site, context: {...site.context, signal}}
    const kept = await findEndpoint(site.head, name)
    const found = kept && (await settlePromised(held, kept)) ? await findEndpoint(site.head, name) : kept
    const record = found ? await tidied(held, found) : empty(name)
    const prepared = await prepare(held, record)
    if (!prepared) {
      together?.leave(name)
      return {document: record.document, changed: false}
    }
    const {change, version, rejectOld, seconds, files} = prepared
    const recipe = await recipeOf(change.release, site.context.env)
    const {model} = change.release
    const document = await carryOut(held, record, {
      change,
      rejectOld,
      seconds,
      files,
      together,
      fetch: async () => {
        const named = version ?? (await resolveVersion(site.mlflow, {name: model.name, version: model.version}))
        const said = await requireSigned(held, name, named)
        const fetched = await fetchModel(site.mlflow, named, recipe, held.context)
        try {
          if (said) requireSignedFiles(name, named, said, fetched.files)
        } catch (error) {
          await fetched.remove()
          throw error
        }
        return fetched
      },
    })
    return {document, changed: true}
  })
}

/** What a cut-off change left is gone, and what a judge has decided is done. */
async function tidied(site: Site, found: EndpointRecord): Promise<EndpointRecord> {
  const cleaned = await cleanLeftovers(site, found)
  const {name} = found.document
  return settleJudged(site, cleaned === found ? found : ((await findEndpoint(site.head, name)) ?? cleaned))
}

export function deploy(input: DeployInput): Prepare {
  checkEndpointName(input.name)
  const {canary} = input
  return async (site, record) => {
    requireNoCanary(record, 'another deploy')
    const {version, release, recipe, reasons, workspaces} = await chooseRelease(site, record.document, input)
    if (canary) requireBeside(record, release.protocol)
    const cors = corsOf(site, record.document, input.name)
    if (!input.force && (await isServing(site, record.document, release, workspaces)))
      return cors && onlyTells(site, record.document, input.name, cors)
    const stop = canary ? [] : (activeRelease(record.document)?.replicas ?? [])
    return {
      change: {
        command: 'endpoint deploy',
        endpoint: input.name,
        release,
        ...startsOf(release.replicas, release),
        stop,
        ...(canary && {canary}),
        ...(reasons && {reasons}),
        ...(cors && {cors}),
        headNode: site.rack.head.node,
        fetch: true,
        asksModel: recipe.modelEnvironment !== undefined,
        ...(workspaces && site.manifest && {before: workspaces.plan.steps, project: site.manifest.name}),
      },
      version,
      rejectOld: false,
      seconds: input.seconds,
      ...(workspaces && {files: workspaces.files}),
    }
  }
}

/** Its servers go on, and the gateway is told which pages may call them. */
function onlyTells({rack}: Site, document: EndpointDocument, endpoint: string, cors: string[]): Prepared | undefined {
  const release = activeRelease(document)
  const left = {start: [], stop: [], headNode: rack.head.node, fetch: false, asksModel: false}
  return release && onlySwitches({command: 'endpoint deploy', endpoint, release, ...left, cors})
}

/** All requests to the canary, or none. NOT_FOUND without one. */
export function decide(name: string, how: 'promote' | 'abort'): Prepare {
  return async (site) => {
    const record = await requireEndpoint(site.head, name)
    if (isDecided(record.document, how)) return undefined
    return onlySwitches(how === 'promote' ? promotion(site, record) : abortion(site, record))
  }
}

/** The judge was faster. */
function isDecided({canary, active, releases: [newest]}: EndpointDocument, how: 'promote' | 'abort'): boolean {
  if (canary || !newest) return false
  if (how === 'abort') return newest.state === 'stopped' && newest.rejected === true
  return newest.id === active?.release && newest.verdict !== undefined
}

function onlySwitches(change: Transition): Prepared {
  return {change, version: undefined, rejectOld: false, seconds: undefined}
}

/** Back to the release that served before and was good; from a canary to the active one. NOT_FOUND where there is none. */
export function rollback(name: string, seconds: number | undefined): Prepare {
  return async (site) => {
    const record = await requireEndpoint(site.head, name)
    const {document} = record
    if (document.canary) return onlySwitches(abortion(site, record, 'endpoint rollback'))
    const active = activeRelease(document)
    const release = previousRelease(document)
    if (!release) {
      throw new CliError(
        'NOT_FOUND',
        `endpoint ${name} has no good release${active ? ` before ${active.id}` : ''} to go back to`,
        {hint: `flexrack endpoint show ${name}`},
      )
    }
    const places = release.replicas.map(({index, node, service}) => ({index, node, service}))
    const replicas = withPrepared(places, release.scaling)
    return {
      change: {
        command: 'endpoint rollback',
        endpoint: name,
        release: {...release, replicas},
        ...startsOf(replicas, release),
        stop: active?.replicas ?? [],
        headNode: site.rack.head.node,
        fetch: false,
        asksModel: false,
      },
      version: undefined,
      rejectOld: true,
      seconds,
    }
  }
}

function empty(name: string): EndpointRecord {
  return {revision: 0, document: newDocument(name, new Date()), inFlight: {}, served: {}}
}
