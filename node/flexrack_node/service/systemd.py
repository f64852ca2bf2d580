"""The user's own service manager of systemd, as far as flexrack uses it."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import Dict

TIMEOUT_SECONDS = 60
LINGERING = Path("/var/lib/systemd/linger")  # of logind: a file a user
LOGIND = Path("/run/systemd/users")  # which it makes when it starts


def is_usable() -> bool:
    """A local rack's nodes are folders of one machine, and its end must reach everything: never there."""

    import shutil

    if "FLEXRACK_LOCAL_RACK" in os.environ or not shutil.which("systemctl"):
        return False
    return call("show-environment").returncode == 0


def lingers() -> bool:
    """Whether the user's services begin with the machine; where not, they begin at the first login and end with the
    last session.
    """
    return (LINGERING / account()).exists()


def has_logind() -> bool:
    """Whether somebody starts the service managers of accounts that linger."""
    return LOGIND.is_dir()


def linger(on: bool) -> str:
    """Switches it; what was said against it, empty where it is done. It needs no rights where polkit is installed."""
    if not has_logind():
        return "systemd-logind does not run here, which would start the services of an account with the machine"
    try:
        done = subprocess.run(
            ["loginctl", "--no-ask-password", "enable-linger" if on else "disable-linger", account()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (
        ""
        if done.returncode == 0
        else (done.stderr.strip().splitlines() or [f"loginctl ended with {done.returncode}"])[-1]
    )


def account() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def units() -> Path:
    """Where links to the user's units are; machines with one home share it."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"


def has_enabled() -> bool:
    """Whether anything at all of the user is to begin with the machine."""
    return any((units() / "default.target.wants").glob("*"))


def put(path: Path, text: str) -> bool:
    """Has this unit begin with the service manager. False where that is so already."""
    if path.exists() and path.read_text() == text and (units() / "default.target.wants" / path.name).is_symlink():
        return False
    path.write_text(text)
    path.chmod(0o600)
    call("daemon-reload")
    call("enable", "--quiet", str(path))
    return True


def remove(path: Path, stop: bool) -> None:
    """Takes the unit and systemd's links to it away, also where no service manager answers."""
    links = [units() / path.name, units() / "default.target.wants" / path.name]
    if not path.exists() and not any(link.is_symlink() for link in links):
        return
    call("disable", "--quiet", *(["--now"] if stop else []), path.name)
    for link in links:
        if link.is_symlink():
            link.unlink()
    path.unlink(missing_ok=True)
    call("daemon-reload")
    call("reset-failed", path.name)


def quote(word: str) -> str:
    """One word of a unit file: systemd.syntax(7), with its specifiers and variables taken as text."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$").replace("\n", "\\n")
    return f'"{text}"'


def call(*words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            ["systemctl", "--user", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env=environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(words), 1, "", str(error))


def environment() -> Dict[str, str]:
    """A connection without a login session does not know its service manager's socket."""
    return {**os.environ, "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"}
