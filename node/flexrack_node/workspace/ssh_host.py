"""A workspace as a host of SSH: workspace.ssh_host makes what stays, once a workspace.

<root>/workspaces/<project>/ssh/host_key, host_key.pub    ed25519, pinned by those who connect
                               /<session>/                what one connection needs (workspace/ssh_session.py)
"""

import os
import pwd
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.workspace.folder import WorkspaceFolder

if TYPE_CHECKING:
    from flexrack_node.schema.workspace import SshHostFound, SshHostQuestion

PUBLIC_KEY = re.compile(r"ssh-ed25519 [A-Za-z0-9+/=]{40,100}")
_PLACES = os.pathsep.join(("/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin"))


def prepare(request: "SshHostQuestion", channel: Channel) -> "SshHostFound":
    """{project, dry_run?} -> {host_key, user}: the public host key, made where there is none. Errors: NOT_FOUND without
    a workspace, NODE_UNFIT without OpenSSH's server.
    """
    place = WorkspaceFolder(channel.root, request["project"])
    if not place.path.is_dir():
        raise NodeError("NOT_FOUND", f"there is no workspace {place.project}", "flexrack workspace up")
    find_sshd()
    user = pwd.getpwuid(os.geteuid()).pw_name
    found = public_key(place)
    if found is None and not request.get("dry_run"):
        with FileLock(place.lock, channel, f"workspace {place.project}"):
            found = public_key(place) or make_key(place)
    return {"host_key": found, "user": user}


def public_key(place: WorkspaceFolder) -> Optional[str]:
    """`ssh-ed25519 AAAA...`; None where there is none, or no whole one."""
    try:
        match = PUBLIC_KEY.match((place.ssh / "host_key.pub").read_text())
    except (OSError, UnicodeDecodeError):
        return None
    return match.group(0) if match and (place.ssh / "host_key").is_file() else None


def make_key(place: WorkspaceFolder) -> str:
    """ssh-keygen writes the private half first; so a public one without it is of a making that was cut short."""
    program = shutil.which("ssh-keygen")
    if program is None:
        raise NodeError("NODE_UNFIT", "this node has no ssh-keygen", "sudo apt-get install openssh-client")
    place.ssh.mkdir(mode=0o700, exist_ok=True)
    for name in ("host_key", "host_key.pub"):
        (place.ssh / name).unlink(missing_ok=True)
    made = subprocess.run(
        [program, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(place.ssh / "host_key")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    found = public_key(place)
    if made.returncode != 0 or found is None:
        raise NodeError("NODE_UNFIT", f"ssh-keygen could not make a host key: {made.stderr.strip()[-500:]}")
    return found


def find_sshd() -> str:
    """sshd(8) wants to be called by its absolute path."""
    found = shutil.which("sshd", path=os.pathsep.join((_PLACES, os.environ.get("PATH", ""))))
    if found is None:
        raise NodeError(
            "NODE_UNFIT",
            "this node has no OpenSSH server program (sshd), which a connection to a workspace is handed to",
            "sudo apt-get install openssh-server",
        )
    return os.path.abspath(found)
