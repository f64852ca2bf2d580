import type {Manifest} from '../manifest/index.ts'
import {quote} from '../ssh/index.ts'
import {workspaceScript, type PlacedWorkspace} from '../workspace/index.ts'
import type {BoundVolume, SshSession} from '../protocol/index.ts'

/** `workspace` of the manifest, as far as it concerns what runs. */
export type SessionSettings = Pick<Manifest['workspace'], 'env' | 'isolate'> & {volumes?: BoundVolume[]}

/** Where systems have OpenSSH's program for sftp. */
const SFTP_SERVERS = ['/usr/lib/openssh', '/usr/libexec/openssh', '/usr/lib/ssh', '/usr/libexec', '/usr/lib/misc'].map(
  (folder) => `${folder}/sftp-server`,
)

/**
 * What the client asks for; nothing is a shell. Not a login shell: its start-up files would put the system's Python
 * first again. An image may lack the account's shell.
 */
const ASKED =
  '[ -x "${SHELL-}" ] || SHELL=/bin/sh; if [ -n "${SSH_ORIGINAL_COMMAND-}" ]; then exec "$SHELL" -c "$SSH_ORIGINAL_COMMAND"; else exec "$SHELL"; fi'

/**
 * What a node needs for one connection: what sshd's ForceCommand runs there. `flexrack-sftp` is what our sshd calls
 * sftp (ssh_session.py): the node's own program has it, outside of an image, where the code has the same path. Errors:
 * NOT_FOUND where the workspace has no code or its environment is gone. Pure.
 */
export function sshSession(
  workspace: PlacedWorkspace,
  {env, isolate, volumes}: SessionSettings,
  key: string,
): SshSession {
  const entered = workspaceScript(workspace, env, ['/bin/sh', '-c', ASKED], {isolate, ...(volumes && {volumes})})
  const sftp = `if [ "\${SSH_ORIGINAL_COMMAND-}" = flexrack-sftp ]; then
cd ${quote([workspace.code])} || exit 1
for program in ${SFTP_SERVERS.join(' ')}; do if [ -x "$program" ]; then exec "$program"; fi; done
echo 'flexrack: this node has no sftp-server; install openssh-sftp-server' >&2; exit 127
fi
`
  return {project: workspace.project, key, env: entered.env, script: sftp + entered.script}
}
