import type {Context} from '../lib/base/index.ts'
import type {Rack} from '../lib/rack/index.ts'
import type {Fleet, SshTarget} from '../lib/ssh/index.ts'
import {atClose} from './context.ts'
import {askSecret, confirm, hasTerminal} from './prompt.ts'

/** A fleet of all nodes of a rack. After the machine was started anew, say, nothing of a local rack runs; that is told. */
export async function openRackFleet(rack: Rack, context: Context): Promise<Fleet> {
  return openTerminalFleet(rack.name === 'local' ? rack.nodes.map((node) => ({...node, revive: 'flexrack local up'})) : rack.nodes, context)
}

/** A fleet that asks on the terminal about unknown host keys and locked keys; closed when the command ends. */
export async function openTerminalFleet(nodes: SshTarget[], context: Context, options: {trustNew?: boolean} = {}): Promise<Fleet> {
  const {openFleet} = await import('../lib/ssh/index.ts')
  const fleet = openFleet(nodes, context, {
    ...options,
    ...(hasTerminal() && {
      askTrust: (key) => confirm({message: `${key.host} presents the new host key ${key.fingerprint}. Trust it?`, flag: 'a known_hosts entry'}, context),
      askPassphrase: (file) => askSecret({message: `Passphrase of ${file}`, flag: 'the key to an ssh-agent'}, context),
    }),
  })
  atClose(context, () => fleet.close())
  return fleet
}
