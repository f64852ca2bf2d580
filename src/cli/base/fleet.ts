import {CliError, type Context, type Secret} from '../../lib/base/index.ts'
import type {Rack} from '../../lib/rack/index.ts'
import type {Fleet, SshTarget} from '../../lib/ssh/index.ts'
import {atClose} from './context.ts'
import {askSecret, confirm, hasTerminal} from './prompt.ts'

export interface FleetUse {
  trustNew?: boolean
  /**
   * A process in the background goes on with the same nodes, and has nobody to ask: a host key that is trusted now is
   * known then, a passphrase is not.
   */
  handedOn?: boolean
}

/**
 * A fleet of all nodes of a rack. After the machine was started anew, say, nothing of a local rack runs; that is told.
 */
export async function openRackFleet(rack: Rack, context: Context, how: FleetUse = {}): Promise<Fleet> {
  return openTerminalFleet(
    rack.nodes.map((node) => ({...node, ...wayOut(rack, node)})),
    context,
    how,
  )
}

function wayOut(rack: Rack, {name, until}: Rack['nodes'][number]): Pick<SshTarget, 'wayOut'> {
  if (rack.name === 'local') return {wayOut: 'flexrack local up'}
  return until === undefined ? {} : {wayOut: `flexrack rack remove ${rack.name} ${name}`}
}

/** A fleet that asks on the terminal about unknown host keys and locked keys; closed when the command ends. */
export async function openTerminalFleet(
  nodes: SshTarget[],
  context: Context,
  {trustNew, handedOn}: FleetUse = {},
): Promise<Fleet> {
  const {openFleet} = await import('../../lib/ssh/index.ts')
  const fleet = openFleet(nodes, context, {
    ...(trustNew !== undefined && {trustNew}),
    ...(hasTerminal() && {
      askTrust: (key) =>
        confirm(
          {message: `${key.host} presents the new host key ${key.fingerprint}. Trust it?`, flag: 'a known_hosts entry'},
          context,
        ),
      askPassphrase: (file) =>
        handedOn
          ? refusePassphrase(file)
          : askSecret({message: `Passphrase of ${file}`, flag: 'the key to an ssh-agent'}, context),
    }),
  })
  atClose(context, () => fleet.close())
  return fleet
}

/** Told on the terminal, before anything is handed on. */
async function refusePassphrase(file: string): Promise<Secret> {
  throw new CliError('AUTH_FAILED', `the key ${file} has a passphrase, and in the background nobody is asked for it`, {
    details: {key: file},
    hint: `eval "$(ssh-agent)" && ssh-add ${file}`,
  })
}
