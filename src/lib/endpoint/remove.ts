import {setTimeout as sleep} from 'node:timers/promises'
import {CliError} from '../base/index.ts'
import {stopService, type ServiceStatus} from '../host/index.ts'
import type {Plan, Step} from '../plan/index.ts'
import {activeRelease, nodesOf, type EndpointRecord} from './document.ts'
import {withLock} from './lock.ts'
import {hostOf, reachable, type Site} from './site.ts'
import {deleteEndpoint, findEndpoint, putEndpoint, requireEndpoint} from './store.ts'
import {dropToken} from './token.ts'

const DRAIN_SECONDS = 10

/** What removing an endpoint would do. */
export async function removalPlan(site: Site, name: string): Promise<Plan> {
  const {document} = await requireEndpoint(site.head, name)
  const nodes = nodesOf(document)
  const close: Step = {id: 'close', node: site.rack.head.node, kind: 'endpoint.close', title: `Take no more requests for endpoint ${name}`, input: {name}, needs: []}
  const clear = nodes.map((node): Step => ({id: `clear:${node}`, node, kind: 'endpoint.clear', title: 'Stop its model servers and remove its files', input: {name}, needs: ['close']}))
  const forget: Step = {id: 'forget', node: site.rack.head.node, kind: 'endpoint.forget', title: `Remove endpoint ${name} with its token`, input: {name}, needs: clear.map((step) => step.id)}
  return {command: 'endpoint remove', steps: [close, ...clear, forget]}
}

/**
 * Ends an endpoint: no more requests, those under way answered, servers stopped, files removed, then the record. Where a
 * node cannot be cleaned the record stays, so that the next try finds it; SOME_NODES_FAILED names the nodes.
 */
export async function removeEndpoint(site: Site, name: string): Promise<{name: string; nodes: string[]}> {
  await requireEndpoint(site.head, name)
  return withLock(site.head, name, site.context, async () => {
    const record = await requireEndpoint(site.head, name)
    const nodes = reachable(site, nodesOf(record.document))
    await close(site, record)
    const results = await Promise.allSettled(nodes.map((node) => clear(site, node, name)))
    const failed = results.flatMap((result, index) => (result.status === 'rejected' ? [{node: nodes[index] ?? '', error: result.reason as Error}] : []))
    if (failed.length > 0) {
      throw new CliError('SOME_NODES_FAILED', `endpoint ${name} takes no more requests, but could not be removed from ${failed.map((one) => one.node).join(', ')}`, {
        hint: `flexrack endpoint remove ${name}`,
        details: {nodes: nodes.map((node) => ({node, ok: !failed.some((one) => one.node === node), message: failed.find((one) => one.node === node)?.error.message}))},
        cause: failed[0]?.error,
      })
    }
    await dropToken(site, name)
    await deleteEndpoint(site.head, name)
    return {name, nodes}
  })
}

async function close(site: Site, record: EndpointRecord): Promise<void> {
  const targets = activeRelease(record.document)?.replicas.flatMap((replica) => replica.url ?? []) ?? []
  await putEndpoint(site.head, record, {...record.document, active: null})
  const end = Date.now() + DRAIN_SECONDS * 1000
  while (Date.now() < end) {
    const now = await findEndpoint(site.head, record.document.name)
    if (targets.every((target) => (now?.inFlight[target] ?? 0) === 0)) return
    await sleep(100)
  }
}

async function clear(site: Site, node: string, name: string): Promise<void> {
  const host = await hostOf(site, node)
  const services = await host.call<Pick<ServiceStatus, 'id'>[]>('service.list', {prefix: `endpoint-${name}-`})
  const ours = services.filter(({id}) => new RegExp(`^endpoint-${name}-r\\d+-\\d+$`).test(id))
  await Promise.all(ours.map(({id}) => stopService(host, id, undefined, {remove: true})))
  await host.call('endpoint.prune', {name, keep: []})
  await host.call('environment.release', {user: `endpoint:${name}`})
}
