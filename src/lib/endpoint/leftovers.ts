import {CliError} from '../base/index.ts'
import {stopService} from '../host/index.ts'
import {
  isUnfinished,
  keptReleases,
  nodesOf,
  runningReleases,
  settled,
  type EndpointRecord,
  type Replica,
} from './document.ts'
import {hostOf, reachable, type Site} from './site.ts'
import {putEndpoint} from './store.ts'

/**
 * Takes back what a change left that was cut off (a killed command, a lost machine): every server of the endpoint that
 * does not belong to the active release or the canary is ended. Needs the lock. Gives the record as it is then.
 */
export async function cleanLeftovers(site: Site, record: EndpointRecord): Promise<EndpointRecord> {
  if (!isUnfinished(record.document)) return record
  const {name} = record.document
  const serving = runningReleases(record.document).flatMap(({replicas}) => replicas)
  const nodes = reachable(site, nodesOf(record.document))
  const results = await Promise.allSettled(
    nodes.map(async (node) => {
      const host = await hostOf(site, node)
      const services = await host.call('service.list', {prefix: `endpoint-${name}-`})
      const ours = services.filter(({id}) => new RegExp(`^endpoint-${name}-r\\d+-\\d+$`).test(id))
      const extra = ours.filter(({id}) => !serving.some((replica) => replica.node === node && replica.service === id))
      await Promise.all(extra.map(({id}) => stopService(host, id)))
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) {
    site.context.reporter.warn(
      `what an interrupted change of endpoint ${name} left could not be cleaned up everywhere: ${(failed.reason as Error).message}`,
    )
    return record
  }
  const document = settled(record.document, 'the command that deployed it was cut off')
  await pruneFolders(site, name, nodes, keptReleases(document))
  site.context.reporter.note(`Cleaned up what an interrupted change of endpoint ${name} had left.`)
  return putEndpoint(site.head, record, document)
}

/** Ends servers, all at once; false where one could not be ended, which is told. */
export async function stopReplicas(site: Site, replicas: Replica[]): Promise<boolean> {
  const results = await Promise.allSettled(
    replicas.map(async ({node, service}) => stopService(await hostOf(site, node), service)),
  )
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected')
      site.context.reporter.warn(
        `${replicas[index]?.service} on ${replicas[index]?.node} could not be stopped: ${(result.reason as Error).message}`,
      )
  }
  return results.every((result) => result.status === 'fulfilled')
}

/** Removes folders and logs of releases that are not kept. A node that is away is told and left for the next time. */
export async function pruneFolders(site: Site, name: string, nodes: string[], keep: string[]): Promise<void> {
  const results = await Promise.allSettled(
    nodes.map(async (node) => {
      const host = await hostOf(site, node)
      await host.call('endpoint.prune', {name, keep})
      const services = await host.call('service.list', {prefix: `endpoint-${name}-`})
      const gone = services.filter(({id}) => {
        const release = new RegExp(`^endpoint-${name}-(r\\d+)-\\d+$`).exec(id)?.[1]
        return release !== undefined && !keep.includes(release)
      })
      await Promise.all(gone.map(({id}) => stopService(host, id, undefined, {remove: true})))
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed && failed.reason instanceof CliError)
    site.context.reporter.warn(`old files of endpoint ${name} were not removed everywhere: ${failed.reason.message}`)
  else if (failed) throw failed.reason
}
