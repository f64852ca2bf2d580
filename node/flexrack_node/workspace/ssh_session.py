"""python3 ssh_session.py ROOT: the far end of `flexrack workspace stdio`, for one connection.

stdin begins with one line of JSON, an SshSession (protocol/workspace.json); what follows, and stdout, are the
connection itself. OpenSSH's sshd serves it (`sshd -i`), as the ordinary user, outside of any port: who may speak here
was proved by the connection that this one is inside of. The one key that it lets in came along with the order. All that
it needs is in a folder that goes with the connection.
"""

import contextlib
import fcntl
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.errors import NodeError
from flexrack_node.process.containment import environ_of, send_signal
from flexrack_node.workspace import ssh_terminal
from flexrack_node.workspace.folder import WorkspaceFolder, processes
from flexrack_node.workspace.ssh_host import PUBLIC_KEY, find_sshd, public_key

if TYPE_CHECKING:
    from flexrack_node.schema.workspace import SshSession

TAG = "FLEXRACK_SSH_SESSION"  # in the environment of all that a connection starts
SFTP = "flexrack-sftp"  # what sshd asks for where a client asks for sftp; src/lib/ssh-host/enter.ts knows it
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_PASSED_ON = ("TERM", "LANG", "PWD", "OLDPWD", "SHLVL", "_")
_LONGEST_ORDER = 1 << 20
_HUP_SECONDS, _TERM_SECONDS = 2.0, 3.0


def serve(root: Path) -> int:
    order = read_order()
    place = WorkspaceFolder(root, order["project"])
    if public_key(place) is None:
        raise NodeError(
            "NOT_FOUND",
            f"the workspace {place.project} has no host key, or is not there any more: flexrack workspace up, then flexrack workspace ssh-config",
        )
    sshd = find_sshd()
    tidy(place)
    folder = place.ssh / f"session-{os.urandom(4).hex()}"
    folder.mkdir(mode=0o700)
    try:
        with open(folder / "lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            return run(sshd, write_files(place, folder, order), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_order() -> "SshSession":
    """Byte by byte: what follows is not ours."""
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte or len(line) > _LONGEST_ORDER:
            raise NodeError("USAGE", "no order came")
        line += byte
    order: SshSession = json.loads(line)
    if not PUBLIC_KEY.fullmatch(order["key"]):
        raise NodeError("USAGE", "not a public key")
    return order


def tidy(place: WorkspaceFolder) -> None:
    """Removes what connections left whose process was killed: nobody holds their lock."""
    for folder in place.ssh.glob("session-*"):
        with contextlib.suppress(OSError), open(folder / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def write_files(place: WorkspaceFolder, folder: Path, order: "SshSession") -> Path:
    """Returns the path of sshd's configuration."""
    # As the connection that brought us has it: sshd begins anew from the password file, which on a local rack names
    # another home.
    own = {
        name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON and not name.startswith("SSH_")
    }
    values: Dict[str, str] = {**own, **order["env"], TAG: folder.name}
    exports = [f"export {name}={shlex.quote(value)}" for name, value in values.items() if _NAME.fullmatch(name)]
    write_private(folder / "enter", "\n".join([*exports, order["script"], ""]))
    write_private(folder / "authorized_keys", f"restrict,pty,port-forwarding,agent-forwarding {order['key']}\n")
    settings = [
        f"HostKey {quoted(place.ssh / 'host_key')}",
        # of a path that has tokens (sshd_config(5))
        f"AuthorizedKeysFile {quoted(folder / 'authorized_keys').replace('%', '%%')}",
        f"ForceCommand /bin/sh {shlex.quote(str(folder / 'enter'))}",
        f"Subsystem sftp {SFTP}",
        "AuthenticationMethods publickey",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin prohibit-password",
        f"UsePAM {'yes' if is_locked_root() else 'no'}",
        "StrictModes no",  # the folder is 0700 and ours; its parents may be a shared scratch disk
        "PidFile none",
        "UseDNS no",
        "PrintMotd no",
        "PrintLastLog no",
        "PermitUserRC no",
        "PermitUserEnvironment no",
        "AcceptEnv LANG LC_*",
        "AllowTcpForwarding yes",
        "AllowStreamLocalForwarding yes",
        "StreamLocalBindUnlink yes",
        "GatewayPorts no",
        "X11Forwarding no",
        "PermitTunnel no",
        "ClientAliveInterval 15",
        "ClientAliveCountMax 4",
        "LogLevel ERROR",
    ]
    write_private(folder / "sshd_config", "\n".join([*settings, ""]))
    return folder / "sshd_config"


def is_locked_root() -> bool:
    """Without PAM sshd lets nobody into an account whose password is locked, which root's often is; as another user it
    cannot see that.
    """
    if os.geteuid() != 0:
        return False
    try:
        return any(line.startswith("root:!") for line in Path("/etc/shadow").read_text().splitlines())
    except OSError:
        return False


def run(sshd: str, config: Path, folder: Path) -> int:
    """Until the connection is over and what it alone had is ended."""
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # as sshd's unit makes it: as root it does not start without
    elif ssh_terminal.are_refused():
        try:
            ssh_terminal.hide_group(folder / "group")
        except OSError as error:
            say(
                f"terminals will not work: devpts of this node has no gid=5, and user namespaces are not allowed ({error.strerror})"
            )
    # else all of it would pass for nohup's, where a server was started by that
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    child = subprocess.Popen([sshd, "-i", "-e", "-f", str(config)])
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: child.terminate())
    status = child.wait()
    end_orphans(folder.name)
    return 0 if status in (0, 255) else status


def end_orphans(session: str) -> None:
    """Ends what still writes to the connection, where nobody is any more. What has outputs of its own was started to
    stay, as editors' servers are; so was what passes SIGHUP over (nohup).
    """
    begun = time.monotonic()
    for number, until in (
        (signal.SIGHUP, _HUP_SECONDS),
        (signal.SIGTERM, _HUP_SECONDS + _TERM_SECONDS),
        (signal.SIGKILL, _HUP_SECONDS + 2 * _TERM_SECONDS),
    ):
        for pid in orphans(session):
            send_signal(pid, number, lambda one: is_of(session, one))
        while time.monotonic() - begun < until:
            if not orphans(session):
                return
            time.sleep(0.05)


def orphans(session: str) -> List[int]:
    return [pid for pid in processes() if is_of(session, pid) and has_lost_output(pid) and not ignores_hangup(pid)]


def is_of(session: str, pid: int) -> bool:
    return f"{TAG}={session}".encode() in environ_of(pid)


def has_lost_output(pid: int) -> bool:
    """stdout or stderr leads nowhere: sshd gives a command pipes, or pairs of sockets where it was built so
    (session.c). Of a terminal the kernel has ended those that had it.
    """
    for descriptor in (f"/proc/{pid}/fd/1", f"/proc/{pid}/fd/2"):
        with contextlib.suppress(OSError):
            kind = os.readlink(descriptor)
            if kind.startswith("socket:") or (kind.startswith("pipe:") and is_unread(descriptor)):
                return True
    return False


def is_unread(pipe: str) -> bool:
    """pipe(7): an end for writing polls as an error once nobody has the other one."""
    descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        poll = select.poll()
        poll.register(descriptor, 0)
        return any(event & select.POLLERR for _, event in poll.poll(0))
    finally:
        os.close(descriptor)


def ignores_hangup(pid: int) -> bool:
    try:
        line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn:"))
    except (OSError, StopIteration):
        return False
    return bool(int(line.split()[1], 16) >> (signal.SIGHUP - 1) & 1)


def quoted(path: Path) -> str:
    text = str(path)
    if re.search(r'["\\\n\r]', text):
        raise NodeError("NODE_UNFIT", f"sshd cannot be told of a path like {text!r}")
    return f'"{text}"'


def write_private(file: Path, text: str) -> None:
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as stream:
        stream.write(text)


def say(text: str) -> None:
    print(f"flexrack: {text}", file=sys.stderr, flush=True)


def main(arguments: List[str]) -> Optional[int]:
    os.umask(0o077)
    try:
        return serve(Path(arguments[0]))
    except NodeError as error:
        say(error.message)
    except (OSError, ValueError, KeyError, TypeError) as error:
        say(f"the connection to the workspace cannot be served: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
