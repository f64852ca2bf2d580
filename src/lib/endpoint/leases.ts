import {OWN_LEASES} from '../gpu/index.ts'
import type {Host} from '../host/index.ts'
import type {OwnLeases} from '../protocol/index.ts'
import type {Replica} from './document.ts'
import type {ServerGpus} from './needs.ts'
import type {Site} from './site.ts'

/** By which a server's lease is found among those of a GPU daemon. */
export function purposeOf({service, node}: Pick<Replica, 'service' | 'node'>): string {
  return `model server ${service} on ${node}`
}

/**
 * What a server's node needs to lease for it at each start, without us. `end` where it is not started after all. Errors:
 * GPU_UNAVAILABLE, and those of OWN_LEASES.
 */
export async function leasesOf(
  site: Site,
  host: Host,
  replica: Replica,
  {remote, ...request}: ServerGpus,
): Promise<{gpus: OwnLeases; end(): Promise<void>}> {
  const who = 'a model server'
  const devices = (replica.devices ?? []).filter(({node}) => node === host.node).map(({id}) => id)
  const wish = await OWN_LEASES.wish(site, request, {node: host.node, remote, who}, site.context)
  return OWN_LEASES.prepare(host, wish, {place: site, purpose: purposeOf(replica), who, devices}, site.context)
}
