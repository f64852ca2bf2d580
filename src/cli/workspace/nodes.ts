import {CliError, type Context} from '../../lib/base/index.ts'
import type {Host} from '../../lib/host/index.ts'
import {selectNodes, type Rack, type RackNode} from '../../lib/rack/index.ts'
import type {Fleet} from '../../lib/ssh/index.ts'
import type {PlacedWorkspace} from '../../lib/workspace/index.ts'
import {openHosts, type OpenedHosts} from './hosts.ts'

/**
 * The nodes that `workspace up` and what is done in workspaces are about: those of --on, else the first of the rack.
 */
export function workspaceNodes(rack: Rack, on: string | undefined): RackNode[] {
  return selectNodes(rack, on, rack.nodes.slice(0, 1))
}

/** One node, for what needs a terminal or a port of its own. Errors: USAGE where the selector means several. */
export function oneNode(rack: Rack, on: string | undefined): RackNode {
  const nodes = workspaceNodes(rack, on)
  if (nodes.length === 1) return nodes[0] as RackNode
  throw new CliError('USAGE', `${on} means ${nodes.length} nodes, but this works on one`, {
    hint: `--on ${nodes[0]?.name}`,
    details: {nodes: nodes.map((node) => node.name)},
  })
}

/** The project that is named, or that of the manifest. Errors: USAGE without either. */
export function projectName(named: string | undefined, manifest: {name: string} | undefined): string {
  const name = named ?? manifest?.name
  if (name !== undefined) return name
  throw new CliError('USAGE', 'which project? There is no flexrack.yaml here or above', {
    hint: 'flexrack workspace list',
  })
}

/** A project's workspaces on these nodes, each with its host. A node without it is among `failed`, as NOT_FOUND. */
export async function openWorkspaces(
  fleet: Fleet,
  nodes: RackNode[],
  project: string,
  context: Context,
): Promise<OpenedHosts & {workspaces: {host: Host; workspace: PlacedWorkspace}[]}> {
  const {findWorkspaces} = await import('../../lib/workspace/index.ts')
  const {hosts, failed} = await openHosts(fleet, nodes, context)
  const looked = await Promise.allSettled(hosts.map((host) => findWorkspaces(host, project, context)))
  const bare = hosts.filter((_, index) => isEmpty(looked[index])).map((host) => host.node)
  const workspaces: {host: Host; workspace: PlacedWorkspace}[] = []
  for (const [index, host] of hosts.entries()) {
    const one = looked[index] as PromiseSettledResult<PlacedWorkspace[]>
    if (one.status === 'rejected') failed.set(host.node, one.reason as Error)
    else if (one.value[0]) workspaces.push({host, workspace: one.value[0]})
    else
      failed.set(
        host.node,
        new CliError('NOT_FOUND', `there is no workspace ${project} on ${host.node}`, {
          hint: `flexrack workspace up --on ${bare.join(',')}`,
          details: {node: host.node},
        }),
      )
  }
  return {hosts, failed, workspaces}
}

function isEmpty(looked: PromiseSettledResult<unknown[]> | undefined): boolean {
  return looked?.status === 'fulfilled' && looked.value.length === 0
}

/** The workspace on one node. Errors: NOT_FOUND, and those of the connection. */
export async function openWorkspace(
  fleet: Fleet,
  node: RackNode,
  project: string,
  context: Context,
): Promise<{host: Host; workspace: PlacedWorkspace}> {
  const {workspaces, failed} = await openWorkspaces(fleet, [node], project, context)
  for (const error of failed.values()) throw error
  return workspaces[0] as {host: Host; workspace: PlacedWorkspace}
}
