import {CliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {Connector} from './connector.ts'
import {makeShell} from './shell.ts'
import type {Fleet, FleetOptions, NodeShell, SshTarget} from './types.ts'

/**
 * The nodes, each connected on first use. See SshTarget for how a node is found; connections need `close()` in the end.
 */
export function openFleet(targets: SshTarget[], ctx: Context, options: FleetOptions = {}): Fleet {
  const byName = new Map(targets.map((target) => [target.name, target]))
  const shells = new Map<string, Promise<NodeShell>>()
  const connector = new Connector(ctx, options)
  let closed = false

  const open = async (target: SshTarget): Promise<NodeShell> => {
    const connection = await connector.connect(target)
    const forget = (): void => {
      shells.delete(target.name)
    }
    connection.onLost(forget)
    return makeShell(connection)
  }

  return {
    async shell(node) {
      throwIfInterrupted(ctx.kill)
      const target = byName.get(node)
      if (!target)
        throw new CliError('NOT_FOUND', `there is no node named ${node}`, {details: {node, nodes: [...byName.keys()]}})
      if (closed)
        throw new CliError('NODE_UNREACHABLE', `the connections were closed before ${node} was asked`, {
          details: {node},
        })
      let shell = shells.get(node)
      if (!shell) {
        shell = open(target)
        shells.set(node, shell)
        shell.catch(() => shells.delete(node))
      }
      return shell
    },
    async close() {
      closed = true
      await connector.close().catch(() => {})
    },
  }
}
