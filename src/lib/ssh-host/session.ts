import {textIfThere, CliError, type Context} from '../base/index.ts'
import type {Host} from '../host/index.ts'
import type {RemoteProcess} from '../ssh/index.ts'
import {quote} from '../ssh/index.ts'
import type {PlacedWorkspace} from '../workspace/index.ts'
import {sshSession, type SessionSettings} from './enter.ts'
import {sshFiles} from './files.ts'

/**
 * Opens the far end of a connection: an SSH server at the other end of the process's streams. Errors: NOT_FOUND where
 * `workspace ssh-config` has made no key yet; those of sshSession.
 */
export async function connectSession(
  host: Host,
  workspace: PlacedWorkspace,
  settings: SessionSettings,
  context: Context,
): Promise<RemoteProcess> {
  const text = await textIfThere(`${sshFiles(context).key}.pub`)
  if (text === undefined)
    throw new CliError('NOT_FOUND', 'there is no key for workspaces here', {hint: 'flexrack workspace ssh-config'})
  const order = sshSession(workspace, settings, text.trim().split(/\s+/).slice(0, 2).join(' '))
  return host.shell.spawn(sessionScript(host), {first: `${JSON.stringify(order)}\n`})
}

function sessionScript({root, program, python}: Host): string {
  return `exec ${quote([python, '-I', '-S', `${program}/workspace/ssh_session.py`, root])}`
}
