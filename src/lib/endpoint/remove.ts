import {setTimeout as sleep} from 'node:timers/promises'
import {CliError} from '../base/index.ts'
import {stopService} from '../host/index.ts'
import {executePlan, type Handlers, type PlanOf, type StepOf} from '../plan/index.ts'
import {endAgent} from './agent.ts'
import {nodesOf, runningReleases, type EndpointRecord} from './document.ts'
import {withLock} from './lock.ts'
import {settlePromised} from './promised.ts'
import {hostOf, reachable, type Site} from './site.ts'
import {deleteEndpoint, findEndpoint, putEndpoint, requireEndpoint} from './store.ts'
import {dropToken} from './token.ts'

const DRAIN_SECONDS = 10

type RemovalKinds = {
  /** `urls`: of the servers that answer now. */
  'endpoint.close': {input: {endpoint: string; urls: string[]}; output: void}
  'endpoint.clear': {input: {node: string; endpoint: string}; output: void}
  'endpoint.forget': {input: {endpoint: string}; output: void}
}

interface RemovalEnv {
  site: Site
  /** As the head had it when it was locked. */
  record: EndpointRecord
}

const HANDLERS: Handlers<RemovalKinds, RemovalEnv> = {
  'endpoint.close': ({urls}, _done, {site, record}) => close(site, record, urls),
  'endpoint.clear': ({node, endpoint}, _done, {site}) => clear(site, node, endpoint),
  'endpoint.forget': async ({endpoint}, _done, {site}) => {
    await dropToken(site, endpoint)
    await deleteEndpoint(site.head, endpoint)
  },
}

/** What removing an endpoint would do. */
export async function removalPlan(site: Site, name: string): Promise<PlanOf<RemovalKinds>> {
  return planRemoval(site, await requireEndpoint(site.head, name))
}

function planRemoval(site: Site, {document}: EndpointRecord): PlanOf<RemovalKinds> {
  const {name: endpoint} = document
  const urls = runningReleases(document).flatMap(({replicas}) => replicas.flatMap(({url}) => url ?? []))
  const shut: StepOf<RemovalKinds> = {
    id: 'close',
    node: site.rack.head.node,
    kind: 'endpoint.close',
    title: `Take no more requests for endpoint ${endpoint}`,
    input: {endpoint, urls},
    needs: [],
  }
  const empty = reachable(site, nodesOf(document)).map((node): StepOf<RemovalKinds> => ({
    id: `clear:${node}`,
    node,
    kind: 'endpoint.clear',
    title: 'Stop its model servers and remove its files',
    input: {node, endpoint},
    needs: ['close'],
  }))
  const forget: StepOf<RemovalKinds> = {
    id: 'forget',
    node: site.rack.head.node,
    kind: 'endpoint.forget',
    title: `Remove endpoint ${endpoint} with its token`,
    input: {endpoint},
    needs: ['close', ...empty.map((step) => step.id)],
  }
  return {command: 'endpoint remove', steps: [shut, ...empty, forget]}
}

/**
 * Ends an endpoint: no more requests, those under way answered, servers stopped, files removed, then the record. Where
 * a node cannot be cleaned the record stays, so that the next try finds it; SOME_NODES_FAILED names the nodes.
 */
export async function removeEndpoint(site: Site, name: string): Promise<{name: string; nodes: string[]}> {
  await requireEndpoint(site.head, name)
  return withLock(site.head, name, site.context, async () => {
    const kept = await requireEndpoint(site.head, name)
    const record = (await settlePromised(site, kept)) ? await requireEndpoint(site.head, name) : kept
    // Once begun it is done to the end: half of an endpoint is of no use to anybody.
    const outcomes = await executePlan(
      planRemoval(site, record),
      HANDLERS,
      {site, record},
      {signal: new AbortController().signal},
    )
    const cleared = outcomes.filter((one) => one.step.kind === 'endpoint.clear')
    const failed = cleared.filter((one) => one.status === 'failed')
    if (failed.length > 0) {
      throw new CliError(
        'SOME_NODES_FAILED',
        `endpoint ${name} takes no more requests, but could not be removed from ${failed.map((one) => one.step.node).join(', ')}`,
        {
          hint: `flexrack endpoint remove ${name}`,
          details: {
            nodes: cleared.map(({step: {node}, error}) => ({node, ok: error === undefined, message: error?.message})),
          },
          cause: failed[0]?.error,
        },
      )
    }
    const other = outcomes.find((one) => one.error)?.error
    if (other) throw other
    return {name, nodes: cleared.map((one) => one.step.node as string)}
  })
}

async function close(site: Site, record: EndpointRecord, urls: string[]): Promise<void> {
  const {canary: _, ...left} = record.document
  await putEndpoint(site.head, record, {...left, active: null})
  const end = Date.now() + DRAIN_SECONDS * 1000
  while (Date.now() < end) {
    const now = await findEndpoint(site.head, record.document.name)
    if (now?.followed !== false && urls.every((url) => (now?.inFlight[url] ?? 0) === 0)) return
    await sleep(100)
  }
}

async function clear(site: Site, node: string, name: string): Promise<void> {
  const host = await hostOf(site, node)
  const services = await host.call('service.list', {prefix: `endpoint-${name}-`})
  const ours = services.filter(({id}) => new RegExp(`^endpoint-${name}-r\\d+-\\d+$`).test(id))
  await Promise.all(ours.map(({id}) => stopService(host, id, undefined, {remove: true})))
  await host.call('endpoint.prune', {name, keep: []})
  await host.call('environment.release', {user: `endpoint:${name}`})
  await endAgent(site, node, name)
}
