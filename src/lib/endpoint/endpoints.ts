import type {Context, Secret} from '../base/index.ts'
import type {Plan} from '../plan/index.ts'
import {applyTogether, planTogether, type Changes} from './apply-together.ts'
import {applyChange, decide, deploy, planChange, rollback, type ChangeOutcome} from './change.ts'
import type {DeployInput} from './choice.ts'
import type {EndpointDocument, Release} from './document.ts'
import type {InvokeInput} from './call.ts'
import {invokeEndpoint, type Answer} from './invoke.ts'
import {endpointKeys, type EndpointKeys} from './keys.ts'
import {benchEndpoint, type BenchInput, type BenchReport} from './load/bench.ts'
import {readEndpointLogs, type EndpointLogInput} from './logs.ts'
import {changeQueue, planQueue, type QueueChange, type QueueRules} from './queue.ts'
import {openLoad, type LoadReport} from './read-load.ts'
import {openSite, type EndpointPlace} from './open-site.ts'
import type {ReplicaCount} from './scaling.ts'
import {scale} from './scale.ts'
import {removalPlan, removeEndpoint} from './remove.ts'
import {listEndpoints, showEndpoint, summary, type EndpointDetails, type EndpointSummary} from './show.ts'
import {sampleEndpoint, type SampleCounts, type SampleInput} from './sample.ts'
import {servedFiles, servedRelease, type ServedFiles} from './served.ts'
import type {Site} from './site.ts'
import {requireEndpoint} from './store.ts'
import {endpointToken} from './token.ts'

export interface Change {
  endpoint: EndpointSummary
  document: EndpointDocument
  /** False where it was so already. */
  changed: boolean
}

/**
 * What can be done with endpoints. `plan…` only looks. Errors: NOT_FOUND, USAGE, LOCKED, ENDPOINT_FAILED
 * (details.lines: the server's last lines), TIMED_OUT, ENVIRONMENT_FAILED, INTERRUPTED.
 */
export interface Endpoints {
  planDeploy(input: DeployInput): Promise<Plan>
  deploy(input: DeployInput): Promise<Change>
  /** Several endpoints: all are switched at the same moment, or none. */
  planDeployTogether(inputs: DeployInput[]): Promise<Plan>
  deployTogether(inputs: DeployInput[]): Promise<Change[]>
  planRollback(name: string): Promise<Plan>
  rollback(name: string, seconds?: number): Promise<Change>
  /** Several endpoints go back at the same moment, or none. */
  planRollbackTogether(names: string[]): Promise<Plan>
  rollbackTogether(names: string[], seconds?: number): Promise<Change[]>
  planDecision(name: string, how: 'promote' | 'abort'): Promise<Plan>
  /** All requests to the canary, or none of them; the servers of the other release end. */
  decide(name: string, how: 'promote' | 'abort'): Promise<Change>
  planScale(name: string, count: ReplicaCount): Promise<Plan>
  scale(name: string, count: ReplicaCount, seconds?: number): Promise<Change>
  planLimit(name: string, rules: QueueRules): Promise<Plan>
  /** How requests wait, and how many a server gets at once. */
  limit(name: string, rules: QueueRules): Promise<QueueChange>
  list(): Promise<EndpointSummary[]>
  show(name: string): Promise<EndpointDetails>
  /** The release that serves; undefined: none does. */
  serving(name: string): Promise<Release | undefined>
  /** Whether the nodes of that release have the model's files as it says; they are read. */
  servedFiles(name: string): Promise<ServedFiles[]>
  /** A token for this endpoint only; made at first use. */
  token(name: string): Promise<Secret>
  /** Keys of its clients. */
  keys: EndpointKeys
  invoke(input: InvokeInput): Promise<Answer>
  bench(input: BenchInput): Promise<BenchReport>
  sample(input: SampleInput): Promise<SampleCounts>
  /** Looks at what all endpoints do, or these: each over the time since the one before. Errors: NOT_FOUND. */
  load(names: string[]): Promise<() => Promise<LoadReport>>
  logs(input: EndpointLogInput): Promise<void>
  planRemove(name: string): Promise<Plan>
  remove(name: string): Promise<{name: string; nodes: string[]}>
  close(): Promise<void>
}

/**
 * Connects to the rack's head (errors: those of connectHead) and to the tracking server of the project. `looks`: nothing
 * is to be changed, so a standby will do where the head does not answer.
 */
export async function openEndpoints(
  place: EndpointPlace,
  context: Context,
  {looks = false}: {looks?: boolean} = {},
): Promise<Endpoints> {
  const {site, close} = await openSite(place, context, looks)
  const {head} = site
  const apply = async (name: string, prepare: ReturnType<typeof deploy>): Promise<Change> => {
    return changeOf(site, await applyChange(site, name, prepare))
  }
  const applyAll = async (changes: Changes): Promise<Change[]> =>
    (await applyTogether([{site, changes}])).flat().map((one) => changeOf(site, one))
  return {
    planDeploy: (input) => planChange(site, 'endpoint deploy', input.name, deploy(input)),
    deploy: (input) => apply(input.name, deploy(input)),
    planDeployTogether: (inputs) => planTogether([{site, changes: deploysOf(inputs)}], 'endpoint deploy'),
    deployTogether: (inputs) => applyAll(deploysOf(inputs)),
    planRollback: (name) => planChange(site, 'endpoint rollback', name, rollback(name, undefined)),
    rollback: (name, seconds) => apply(name, rollback(name, seconds)),
    planRollbackTogether: (names) => planTogether([{site, changes: rollbacksOf(names)}], 'endpoint rollback'),
    rollbackTogether: (names, seconds) => applyAll(rollbacksOf(names, seconds)),
    planDecision: (name, how) => planChange(site, `endpoint ${how}`, name, decide(name, how)),
    decide: (name, how) => apply(name, decide(name, how)),
    planScale: (name, count) => planChange(site, 'endpoint scale', name, scale(name, count, undefined)),
    scale: (name, count, seconds) => apply(name, scale(name, count, seconds)),
    planLimit: (name, rules) => planQueue(site, name, rules),
    limit: (name, rules) => changeQueue(site, name, rules),
    list: () => listEndpoints(site),
    show: (name) => showEndpoint(site, name),
    serving: (name) => servedRelease(site, name),
    servedFiles: (name) => servedFiles(site, name),
    token: async (name) => {
      await requireEndpoint(head, name)
      return endpointToken(site, name)
    },
    keys: endpointKeys(site),
    invoke: (input) => invokeEndpoint(site, input),
    bench: (input) => benchEndpoint(site, input),
    sample: (input) => sampleEndpoint(site, input),
    load: async (names) => {
      for (const name of names) await requireEndpoint(head, name)
      return openLoad(site, names)
    },
    logs: (input) => readEndpointLogs(site, input),
    planRemove: (name) => removalPlan(site, name),
    remove: (name) => removeEndpoint(site, name),
    close,
  }
}

export function changeOf(site: Site, {document, changed}: ChangeOutcome): Change {
  return {endpoint: summary(site, {document}), document, changed}
}

function rollbacksOf(names: string[], seconds?: number): Changes {
  return new Map(names.map((name) => [name, rollback(name, seconds)]))
}

function deploysOf(inputs: DeployInput[]): Changes {
  return new Map(inputs.map((input) => [input.name, deploy(input)]))
}
