import {setTimeout as sleep} from 'node:timers/promises'
import {CliError, isCliError} from '../base/index.ts'
import {stopService, type Environment} from '../host/index.ts'
import {executePlan, type Step} from '../plan/index.ts'
import type {Recipe} from '../recipe/index.ts'
import {awaitReplica, placeModel, prepareEnvironment, startReplica, type Started} from './bring-up.ts'
import {keptReleases, nodesOf, pruned, putRelease, settled, switchTo, type EndpointDocument, type EndpointRecord, type Release, type Replica} from './document.ts'
import {pruneFolders, stopReplicas} from './leftovers.ts'
import type {FetchedModel} from './model-files.ts'
import {transitionPlan, type Transition} from './plan.ts'
import {hostOf, type Site} from './site.ts'
import {findEndpoint, putEndpoint} from './store.ts'

const DRAIN_SECONDS = 30

export interface TransitionInput {
  change: Transition
  recipe: Recipe
  /** Seconds a server may take to become ready. */
  seconds: number
  /** The old release is rolled back from: later rollbacks pass it over. */
  rejectOld: boolean
  fetch(): Promise<FetchedModel>
}

/**
 * Carries out a transition over `record`, holding the lock. The gateway is switched only when every new replica is ready and has
 * answered; a failure before that ends what was started and leaves what served serving. Errors: ENDPOINT_FAILED,
 * TIMED_OUT, INTERRUPTED and those of the steps; details.lines has the server's last lines.
 */
export async function carryOut(site: Site, record: EndpointRecord, input: TransitionInput): Promise<EndpointDocument> {
  const {change} = input
  const plan = transitionPlan(change)
  const begun = await putEndpoint(site.head, record, announce(record.document, change))
  const until = new AbortController()
  const work = new Work(site, begun, input)
  // Once switched, Ctrl-C comes too late: what is left to do (end the old servers) is done.
  const stop = (): void => void (work.switched || until.abort())
  site.context.signal.addEventListener('abort', stop)
  if (site.context.signal.aborted) stop()
  const outcomes = await executePlan(plan, work.handlers(), {...site.context, signal: until.signal})
  site.context.signal.removeEventListener('abort', stop)
  await work.close()
  if (work.switched) return finish({...site, context: {...site.context, signal: site.context.kill}}, work)
  const failed = outcomes.find((one) => one.status === 'failed')?.error
  const error = failed ?? outcomes.find((one) => one.error)?.error ?? new CliError('INTERRUPTED', 'interrupted')
  throw await undo(site, work, error)
}

/** What is about to happen, written down first: whoever finds it after a crash knows where to look. */
function announce(document: EndpointDocument, {release, start}: Transition): EndpointDocument {
  const pending = [...new Set(start.map((replica) => replica.node))]
  const known = document.releases.find((one) => one.id === release.id)
  const state = known?.state === 'active' ? 'active' : 'starting'
  // A release that serves keeps the replicas it has until the switch.
  return putRelease(document, {...(state === 'active' && known ? known : release), state, pending})
}

class Work {
  readonly site: Site
  readonly input: TransitionInput
  record: EndpointRecord
  switched = false
  /** The head could not be asked whether it switched. */
  uncertain = false
  leftRunning: string[] = []
  readonly #taken: Set<number>
  readonly #started = new Map<string, Started>()
  #fetched: Promise<FetchedModel> | undefined
  #files: Release['model']['files']

  constructor(site: Site, record: EndpointRecord, input: TransitionInput) {
    this.site = site
    this.record = record
    this.input = input
    this.#files = input.change.release.model.files
    const urls = record.document.releases.flatMap((release) => release.replicas.flatMap((replica) => replica.url ?? []))
    this.#taken = new Set(urls.map((url) => Number(new URL(url).port)))
  }

  handlers(): Record<string, (step: Step, done: ReadonlyMap<string, unknown>) => Promise<unknown>> {
    return {
      'endpoint.fetch': () => this.#fetch(),
      'endpoint.environment': (step) => prepareEnvironment(this.site, step.node ?? '', this.input.change.endpoint, this.input.recipe),
      'endpoint.place': (step) => placeModel(this.site, step.node ?? '', this.input.change.endpoint, this.#release(), () => this.#fetch()),
      'endpoint.start': (step, done) => this.#start(step, done),
      'endpoint.ready': (step) => awaitReplica(this.site, this.#startedOf(step), this.input.change.endpoint, this.input.seconds),
      'endpoint.switch': () => this.#switch(),
      'endpoint.drain': () => this.#drain(),
      'endpoint.stop': (step) => this.#stop(step),
    }
  }

  async close(): Promise<void> {
    const fetched = await this.#fetched?.catch(() => undefined)
    await fetched?.remove()
  }

  async #fetch(): Promise<FetchedModel> {
    this.#fetched ??= this.input.fetch()
    const fetched = await this.#fetched
    this.#files = fetched.files
    return fetched
  }

  async #start(step: Step, done: ReadonlyMap<string, unknown>): Promise<void> {
    const {release, endpoint} = this.input.change
    const replica = release.replicas.find((one) => one.service === step.input.service) as Replica
    const environment = done.get(`environment:${step.node}`) as Environment
    const modelFolder = done.get(`place:${step.node}`) as string
    const started = await startReplica(this.site, {endpoint, release: this.#release(), replica, recipe: this.input.recipe, environment, modelFolder, taken: this.#taken})
    this.#started.set(replica.service, started)
  }

  #startedOf(step: Step): Started {
    return this.#started.get(String(step.input.service)) as Started
  }

  /** The release as it is known by now: with the files that were fetched and the addresses of its servers. */
  #release(): Release {
    const {release} = this.input.change
    const replicas = release.replicas.map((replica) => this.#started.get(replica.service)?.replica ?? replica)
    return {...release, model: {...release.model, files: this.#files}, replicas}
  }

  async #switch(): Promise<void> {
    const document = switchTo(this.record.document, this.#release(), new Date(), this.input.rejectOld)
    try {
      this.record = await putEndpoint(this.site.head, this.record, document)
    } catch (error) {
      // A lost answer does not tell whether the gateway was switched, and to end the servers it uses would be the worst guess.
      const now = await findEndpoint(this.site.head, document.name).catch(() => undefined)
      this.uncertain = now === undefined
      if (now?.document.active?.targets.join() !== document.active?.targets.join()) throw error
      this.record = now ?? this.record
    }
    this.switched = true
  }

  /** Until no request is under way at the old servers; at most DRAIN_SECONDS, then they get their grace on top. */
  async #drain(): Promise<void> {
    const targets = this.input.change.stop.flatMap((replica) => replica.url ?? [])
    const end = Date.now() + DRAIN_SECONDS * 1000
    for (;;) {
      const now = await findEndpoint(this.site.head, this.input.change.endpoint)
      const busy = targets.reduce((sum, target) => sum + (now?.inFlight[target] ?? 0), 0)
      if (busy === 0) return
      if (Date.now() > end) {
        this.site.context.reporter.warn(`${busy} requests are still under way at the old release after ${DRAIN_SECONDS} s; its servers are stopped all the same`)
        return
      }
      await sleep(100)
    }
  }

  /** The switch is done and stays done: a server that cannot be ended now is told, and ended by the next command. */
  async #stop(step: Step): Promise<void> {
    try {
      await stopService(await hostOf(this.site, step.node ?? ''), String(step.input.service), this.input.recipe.graceSeconds)
    } catch (error) {
      this.leftRunning.push(String(step.input.service))
      this.site.context.reporter.warn(`${step.input.service} on ${step.node} could not be stopped: ${(error as Error).message}`)
    }
  }
}

async function finish(site: Site, work: Work): Promise<EndpointDocument> {
  const document = pruned(work.leftRunning.length === 0 ? settled(work.record.document, '') : work.record.document)
  await pruneFolders(site, document.name, nodesOf(work.record.document).filter((name) => site.rack.nodes.some((node) => node.name === name)), keptReleases(document))
  const record = await putEndpoint(site.head, work.record, document)
  return record.document
}

async function undo(site: Site, work: Work, error: Error): Promise<Error> {
  const {change} = work.input
  // Ctrl-C must not keep us from taking back what was started.
  const calm: Site = {...site, context: {...site.context, signal: site.context.kill}}
  const reason = isCliError(error, 'INTERRUPTED') ? 'interrupted' : error.message
  if (work.uncertain) {
    return new CliError('HEAD_FAILED', `the head went away while endpoint ${change.endpoint} was being switched to release ${change.release.id}; both releases were left running`, {
      hint: `flexrack head start --rack ${site.rack.name}\nflexrack endpoint show ${change.endpoint}`, details: {release: change.release.id}, cause: error,
    })
  }
  try {
    const ended = await stopReplicas(calm, change.start)
    const document = ended ? settled(work.record.document, reason) : work.record.document
    await pruneFolders(calm, change.endpoint, [...new Set(change.start.map((replica) => replica.node))], keptReleases(document))
    await putEndpoint(calm.head, work.record, document)
  } catch (second) {
    site.context.reporter.warn(`what was started of release ${change.release.id} could not be taken back yet (${(second as Error).message}); the next deploy does`)
  }
  if (!isCliError(error)) return error
  const what = `release ${change.release.id} of endpoint ${change.endpoint}`
  const ending = work.record.document.active ? `; release ${work.record.document.active.release} keeps serving` : ''
  const how = error.code === 'INTERRUPTED' ? `interrupted: ${what} was taken back` : `${what} was not switched to: ${error.message}`
  return new CliError(error.code, `${how}${ending}`, {hint: error.hint ?? `flexrack endpoint show ${change.endpoint}`, details: {...error.details, release: change.release.id}, cause: error})
}
