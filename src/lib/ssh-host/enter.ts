import {workspaceScript, type PlacedWorkspace} from '../workspace/index.ts'
import type {SshSession} from '../protocol/index.ts'

/** Where systems have OpenSSH's program for sftp. */
const SFTP_SERVERS = ['/usr/lib/openssh', '/usr/libexec/openssh', '/usr/lib/ssh', '/usr/libexec', '/usr/lib/misc'].map((folder) => `${folder}/sftp-server`)

/** What sshd's ForceCommand runs: what the client asks for; `flexrack-sftp` is what our sshd calls sftp (ssh_session.py). Not a login shell: its start-up files would put the system's Python first again. */
const ENTER = `case "\${SSH_ORIGINAL_COMMAND-}" in
"") exec "\${SHELL:-/bin/sh}" ;;
flexrack-sftp) for program in ${SFTP_SERVERS.join(' ')}; do if [ -x "$program" ]; then exec "$program"; fi; done; echo 'flexrack: this node has no sftp-server; install openssh-sftp-server' >&2; exit 127 ;;
*) exec "\${SHELL:-/bin/sh}" -c "$SSH_ORIGINAL_COMMAND" ;;
esac`

/** What a node needs for one connection. Errors: NOT_FOUND where the workspace has no code or its environment is gone. Pure. */
export function sshSession(workspace: PlacedWorkspace, env: Record<string, string>, key: string): SshSession {
  const entered = workspaceScript(workspace, env, ['/bin/sh', '-c', ENTER])
  return {project: workspace.project, key, env: entered.env, script: entered.script}
}
