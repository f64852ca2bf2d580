import type {Context} from '../base/index.ts'
import {openHost} from '../host/index.ts'
import type {Plan, Step} from '../plan/index.ts'
import type {NodeInstalled, Uninstalled} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {overNodes, throwIfAnyFailed, type NodeReport} from '../nodes/index.ts'

/** What `rack install` would do. */
export function planInstall(rack: Rack, nodes: RackNode[]): Plan {
  const steps = nodes.map((node): Step => ({
    id: `install:${node.name}`,
    node: node.name,
    kind: 'node.install',
    title: `Put the node program into ${node.root} of ${node.name}`,
    input: {root: node.root},
    needs: [],
  }))
  return {command: `rack install ${rack.name}`, steps}
}

export interface Installed {
  /** flexrack's folder on the node. */
  root: string
}

/** Puts the node program on every node. Safe to repeat. Returns a report a node, bad ones too. */
export async function installNodes(nodes: RackNode[], fleet: Fleet, ctx: Context): Promise<NodeReport<Installed>[]> {
  return overNodes('Installing on', nodes, fleet, ctx, async (node) => ({root: (await openHost(fleet, node, ctx)).root}))
}

/** What is on a node now: `present` is false where flexrack never was. */
export interface UninstallView extends NodeInstalled {
  present: boolean
}

/** What `rack uninstall` would remove, node by node. Throws as throwIfAnyFailed. */
export async function planUninstall(rack: Rack, nodes: RackNode[], fleet: Fleet, ctx: Context): Promise<Plan> {
  const reports = await overNodes('Looking at', nodes, fleet, ctx, (node) => look(node, fleet, ctx))
  throwIfAnyFailed(reports)
  const steps = reports.flatMap(({node, value}): Step[] => {
    if (!value?.present) return []
    const paths = value.entries.filter((entry) => entry.inside).map((entry) => entry.path)
    const title = `Remove ${paths.length} path${paths.length === 1 ? '' : 's'} below ${value.root}${value.alive.length > 0 ? `; ${value.alive.length} processes run there, so only with --force` : ''}`
    return [{id: `uninstall:${node}`, node, kind: 'node.uninstall', title, input: {root: value.root, paths, alive: value.alive}, needs: []}]
  })
  return {command: `rack uninstall ${rack.name}`, steps}
}

/** Removes what flexrack put on the nodes. Refuses a node (CONFLICT) on which something of it still runs, unless forced. */
export async function uninstallNodes(nodes: RackNode[], fleet: Fleet, ctx: Context, options: {force?: boolean; grace?: number} = {}): Promise<NodeReport<Uninstalled>[]> {
  return overNodes('Uninstalling from', nodes, fleet, ctx, async (node) => {
    const host = await openHost(fleet, node, ctx, {ifPresent: true})
    if (!host) return {removed: [], left: [], ended: 0}
    return host.call('node.uninstall', {force: options.force ?? false, grace: options.grace ?? 10}, {signal: ctx.signal})
  })
}

async function look(node: RackNode, fleet: Fleet, ctx: Context): Promise<UninstallView> {
  const host = await openHost(fleet, node, ctx, {ifPresent: true})
  if (!host) return {present: false, root: node.root, entries: [], alive: []}
  return {...(await host.call('node.installed', {}, {signal: ctx.signal})), present: true}
}
