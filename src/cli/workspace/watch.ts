import {sizeText} from '../../lib/base/index.ts'
import type {Context} from '../../lib/base/index.ts'
import type {RackNode} from '../../lib/rack/index.ts'
import type {LiveEvent} from '../../lib/workspace/index.ts'
import type {ProjectSession} from '../base/session.ts'
import {openHosts, throwIfNodesFailed} from './hosts.ts'
import {workspaceNodes} from './nodes.ts'

/**
 * `workspace sync --watch`: until Ctrl-C. A node that cannot be had at first is an error; one that is lost later comes
 * back.
 */
export async function watchProject(
  flags: {on?: string | undefined; overwrite: boolean},
  {rack, fleet, manifest}: ProjectSession,
  context: Context,
  onEvent: (event: LiveEvent) => void,
): Promise<void> {
  const [{LIVE_SYNC}, {openHost}] = await Promise.all([
    import('../../lib/workspace/index.ts'),
    import('../../lib/host/index.ts'),
  ])
  const nodes = workspaceNodes(rack, flags.on)
  const {failed} = await openHosts(fleet, nodes, context)
  await throwIfNodesFailed(nodes, failed)
  const connect = (node: RackNode) => () => openHost(fleet, node, context)
  await LIVE_SYNC.keep(
    nodes.map((node) => ({name: node.name, connect: connect(node)})),
    manifest,
    {overwrite: flags.overwrite, onEvent},
    context,
  )
}

export function liveText(event: LiveEvent): string {
  switch (event.event) {
    case 'ready':
      return `${event.node} has the project; every save follows (Ctrl-C ends this)`
    case 'synced':
      return `${event.node}: ${names([...event.paths, ...event.removed.map((path) => `${path} removed`)])} (${sizeText(event.bytes)}, ${event.milliseconds} ms)`
    case 'conflict':
      return `${event.node}: ${names(event.paths)} stays as it is there: ${event.reason}`
    case 'kept':
      return `${event.node}: edited there, and left as they are: ${names(event.paths)}`
    case 'lost':
      return `${event.node}: ${event.reason}; trying again`
    case 'back':
      return `${event.node} is back after ${event.gapSeconds} s`
    case 'unreadable':
      return `not synced: ${event.reason}`
  }
}

function names(paths: string[]): string {
  return paths.length > 3 ? `${paths.slice(0, 3).join(', ')} and ${paths.length - 3} more` : paths.join(', ')
}
