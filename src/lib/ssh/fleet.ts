import {CliError, isCliError, throwIfInterrupted, type Context} from '../base/index.ts'
import {Connector} from './connector.ts'
import {makeShell} from './shell.ts'
import type {Fleet, FleetOptions, NodeShell, SshTarget} from './types.ts'

/** As long as this a node counts as silent that has just used up the time it had to answer. Milliseconds. */
const SILENT_MS = 3000
const CONNECT_MS = 15_000

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
        const [made, began] = [shell, Date.now()]
        const forget = (): void => {
          if (shells.get(node) === made) shells.delete(node)
        }
        // What a command asks next of the same node does not wait for it a second time.
        shell.catch((error: unknown) => {
          const isSilent = Date.now() - began >= (options.connectTimeout ?? CONNECT_MS)
          if (isSilent && isCliError(error, 'NODE_UNREACHABLE')) setTimeout(forget, SILENT_MS).unref()
          else forget()
        })
      }
      return shell
    },
    async close() {
      closed = true
      await connector.close().catch(() => {})
    },
  }
}
