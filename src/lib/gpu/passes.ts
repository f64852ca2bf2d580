import {isCliError, ownerName, type Context, isLoopback} from '../base/index.ts'
import {openHost, type Host} from '../host/index.ts'
import type {GpuPlace, LeaseTerms} from '../protocol/index.ts'
import type {Rack, RackNode} from '../rack/index.ts'
import type {Fleet} from '../ssh/index.ts'
import {candidates} from './reach.ts'

/** Other nodes at which a node may take leases by itself. */
export interface Passes {
  places: GpuPlace[]
  /** Ends them, where nobody will use them. Never throws. */
  end(): Promise<void>
}

/**
 * A pass of each of these nodes for `host`, which may then take leases there when nobody types; it is tried from there.
 * A node that does not let it in is warned of and left out. Errors: those of reaching `host`.
 */
export async function passesFor(
  {rack, fleet}: {rack: Rack; fleet: Fleet},
  {host, nodes, order, who = 'kernels'}: {host: Host; nodes: string[]; order: Omit<LeaseTerms, 'owner'>; who?: string},
  context: Context,
): Promise<Passes> {
  const found = await Promise.all(
    nodes.map(async (name) => {
      const node = rack.nodes.find((one) => one.name === name) as RackNode
      try {
        const other = await openHost(fleet, node, context)
        const {
          bind,
          pass,
          secret,
          port,
          daemon_port: daemon,
        } = await other.call('gpu.allow', {...order, owner: ownerName(context)}, {signal: context.signal})
        const place = {node: name, pass, secret, addresses: addressesOf(bind, node), port, daemon_port: daemon}
        return {place, end: () => other.call('gpu.disallow', {pass}, {signal: context.kill})}
      } catch (error) {
        if (!isCliError(error) || error.code === 'INTERRUPTED') throw error
        context.reporter.warn(`${name} lends no GPU to ${who}: ${error.message}`)
        return
      }
    }),
  )
  const made = found.filter((one) => one !== undefined)
  const end = async (only: (node: string) => boolean): Promise<void> => {
    await Promise.allSettled(made.filter(({place}) => only(place.node)).map((one) => one.end()))
  }
  try {
    const knocked = await host.call('gpu.knock', {places: made.map(({place}) => place)}, {signal: context.signal})
    const problems = new Map(knocked.map(({node, problem}) => [node, problem]))
    for (const [node, problem] of problems)
      if (problem !== null)
        context.reporter.warn(
          `${host.node} does not reach the GPUs of ${node} by itself (${problem}), and ${who} has to: open the daemon of ${node} to the network of the nodes (gpu: {bind: ...} in the rack file), then: flexrack gpu serve ${node}`,
        )
    await end((node) => problems.get(node) !== null)
    return {
      places: made.map(({place}) => place).filter(({node}) => problems.get(node) === null),
      end: () => end((node) => problems.get(node) === null),
    }
  } catch (error) {
    await end(() => true)
    throw error
  }
}

/** Where another node of the rack may find what listens at these addresses. Loopback: only on the same machine. */
function addressesOf(bind: string[], node: RackNode): string[] {
  return [...new Set(bind.flatMap((one) => (isLoopback(one) ? [one] : candidates(one, node))))]
}
