import {isCliError, type Context} from '../../base/index.ts'
import {openHost, type Host} from '../../host/index.ts'
import type {RackNode} from '../../rack/index.ts'
import type {Fleet} from '../../ssh/index.ts'
import {placeRanks} from '../place.ts'
import type {RunSpec} from '../types.ts'

/** Opens a node; throws where it cannot be had. */
export type OpenNode = (node: RackNode) => Promise<Host>

/**
 * Connects to the nodes of a run. Where others would do as well (`spec.instead`), one that does not answer is replaced
 * by the next one that does, and told; where nodes were named or chosen, or nothing is left to take, its error is the
 * error. `onOpen` is told of each node as it answers: a silent one is waited for long, and the others need not. Errors:
 * those of openHost.
 */
export async function openGang(
  spec: RunSpec,
  fleet: Fleet,
  onOpen: (host: Host) => void,
  context: Context,
): Promise<{spec: RunSpec; hosts: Host[]}> {
  const named = spec.placements.map((one) => one.node)
  const line = spec.chosen ? named : [...named, ...(spec.instead ?? [])]
  const {hosts, dead} = await openInLine(line, named.length, async (node) => {
    const host = await openHost(fleet, node, context)
    onOpen(host)
    return host
  })
  if (dead.size === 0) return {spec, hosts: [...hosts.values()]}
  for (const [node, error] of dead) context.reporter.warn(`${node.name} is left out: ${error.message}`)
  return {
    spec: {...spec, placements: placeRanks([...hosts.keys()], spec.processes, spec.size?.max)},
    hosts: [...hosts.values()],
  }
}

/**
 * The first `count` nodes of the line that answer, in its order, all that are needed at once. Throws the error of a
 * node that does not answer where the line is too short, and any other error at once.
 */
export async function openInLine(
  line: RackNode[],
  count: number,
  open: OpenNode,
): Promise<{hosts: Map<RackNode, Host>; dead: Map<RackNode, Error>}> {
  const found = new Map<RackNode, Host>()
  const dead = new Map<RackNode, Error>()
  let next = 0
  while (found.size < count) {
    const trying = line.slice(next, next + count - found.size)
    next += trying.length
    const [error] = dead.values()
    if (error && trying.length < count - found.size) throw error
    await Promise.all(
      trying.map(async (node) => {
        try {
          found.set(node, await open(node))
        } catch (error) {
          if (!isCliError(error, 'NODE_UNREACHABLE', 'TIMED_OUT')) throw error
          dead.set(node, error)
        }
      }),
    )
  }
  return {
    hosts: new Map(line.flatMap((node) => (found.has(node) ? [[node, found.get(node) as Host] as const] : []))),
    dead,
  }
}
