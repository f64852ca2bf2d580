import {CliError, type Context} from '../../lib/base/index.ts'
import type {DataStore} from '../../lib/data/index.ts'
import type {Host} from '../../lib/host/index.ts'
import {selectNodes} from '../../lib/rack/index.ts'
import type {Session} from '../base/session.ts'
import {openHosts, throwIfNodesFailed} from '../workspace/hosts.ts'

export async function openStore(context: Context): Promise<DataStore> {
  const {DataStore} = await import('../../lib/data/index.ts')
  return new DataStore(context)
}

/** The nodes that are meant, all of the rack by default. Errors: those of nodes that cannot be had. */
export async function dataHosts(
  {rack, fleet}: Pick<Session, 'rack' | 'fleet'>,
  on: string | undefined,
  context: Context,
): Promise<Host[]> {
  const nodes = selectNodes(rack, on, rack.nodes)
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  await throwIfNodesFailed(nodes, failed)
  return hosts
}

export function hostOf(hosts: readonly Host[]): (node: string) => Host {
  return (node) => {
    const found = hosts.find((one) => one.node === node)
    if (!found) throw new CliError('BUG', `the plan has a node that nobody opened: ${node}`)
    return found
  }
}
