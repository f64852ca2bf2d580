"""What starts this node's services again after a reboot: the user's service manager of systemd where it begins with the
machine, else cron, else nothing.

    boot/  settings.json  resume (a shell script: what both of them call)  flexrack-boot-<hash>.service  log  lock

One unit or one line in the crontab for all services of this folder. Which ones come back stands nowhere else than in
services/ (boot.py). Units lie in the home, which machines may share, so the settings say whose they are; a crontab is
each machine's own.
"""

import fcntl
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Optional, cast

from flexrack_node.base import home
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, replace_file, write
from flexrack_node.service import crontab, systemd
from flexrack_node.service.record import wanted

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptComeback, OwnMachine
    from flexrack_node.schema.service import ComesBack

SWITCH = "FLEXRACK_REBOOT"  # `stay` in a session's environment: neither units nor the crontab are touched
# Of the session that starts services: neither systemd nor cron would have them.
_KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
# its file system may come late
_WAITING = "n=0; until [ -e {0} ] || [ $n -ge 120 ]; do sleep 5; n=$((n+1)); done; exec /bin/sh {0}"


def look(root: Path) -> "ComesBack":
    """How it is where something is set up, else how it would be. Changes nothing."""
    if is_off():
        return {"by": "off", "why": None}
    settings = read("boot.settings", folder(root) / "settings.json")
    if settings and is_mine(settings):
        missing = what_is_missing(root, settings["by"])
        return {"by": "none", "why": missing} if missing else {"by": settings["by"], "why": settings["why"]}
    if systemd.is_usable() and systemd.has_logind() and (systemd.lingers() or os.getuid() == 0):
        return {"by": "systemd", "why": None}
    refusal = crontab.refusal()
    return {"by": "cron" if refusal is None else "none", "why": refusal}


def settle(channel: Channel) -> "ComesBack":
    """Has services come back after a reboot. Another call once nothing is to run here any more takes all of it away."""
    root = channel.root
    if is_off():
        return {"by": "off", "why": None}
    if not is_wanted(root):
        take_away(root)
        return {"by": "none", "why": None}
    record(root, folder(root), "boot")
    with locked(root):
        write_script(channel)
        before = or_nothing(read("boot.settings", folder(root) / "settings.json"))
        switched, refusal = False, "there is no service manager of systemd for this user"
        if systemd.is_usable():
            switched = not systemd.lingers()
            refusal = systemd.linger(True) if switched or not systemd.has_logind() else ""
        found: ComesBack = {"by": "systemd", "why": None}
        if refusal:
            found = use_cron(root, refusal)
        else:
            systemd.put(unit_path(root), unit_text(root))
            crontab.remove(in_crontab(script(root)))
        lingers_for_us = bool(before.get("lingers_for_us")) or (switched and not refusal)
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        settings: KeptComeback = {
            "by": found["by"],
            "why": found["why"],
            "lingers_for_us": lingers_for_us,
            "machine": cast("OwnMachine", home.facts()),
            "environment": kept,
        }
        write("boot.settings", folder(root) / "settings.json", settings)
        return found


def use_cron(root: Path, refusal_of_systemd: str) -> "ComesBack":
    why = crontab.refusal()
    if why is None:
        try:
            if crontab.put(command(root)):
                return {"by": "cron", "why": None}
            why = "somebody else writes the crontab"
        except NodeError as error:
            why = error.message
    return {"by": "none", "why": f"{refusal_of_systemd}; {why}"}


def take_away(root: Path, stop: bool = False) -> None:
    """`stop`: what the unit has started ends with it."""
    settings = read("boot.settings", folder(root) / "settings.json")
    if settings is None:
        return
    with locked(root):
        systemd.remove(unit_path(root), stop)
        if not is_off():
            crontab.remove(in_crontab(script(root)))
            if settings.get("lingers_for_us") and is_mine(settings) and not systemd.has_enabled():
                systemd.linger(False)
        for path in (folder(root) / "settings.json", folder(root) / "resume"):
            path.unlink(missing_ok=True)


def outside(root: Path) -> "list[str]":
    """What is there of it outside of flexrack's folder, in words."""
    settings = or_nothing(read("boot.settings", folder(root) / "settings.json"))
    found = (
        [f"systemd user unit {unit_path(root).name}"] if (systemd.units() / unit_path(root).name).is_symlink() else []
    )
    if settings.get("by") == "cron":
        found.append("a line in the crontab")
    return [*found, "lingering of this account"] if settings.get("lingers_for_us") else found


def what_is_missing(root: Path, by: str) -> Optional[str]:
    """What somebody has taken away since."""
    if by == "systemd" and not (systemd.units() / "default.target.wants" / unit_path(root).name).is_symlink():
        return f"the unit {unit_path(root).name} has been disabled"
    if by == "systemd" and not systemd.lingers():
        return "lingering of this account has been switched off"
    if by == "systemd" and not systemd.has_logind():
        return "systemd-logind does not run, which would start the services of this account with the machine"
    if by == "cron":
        try:
            return None if crontab.has(in_crontab(script(root))) else "the line in the crontab is gone"
        except NodeError as error:
            return error.message
    return None


def release(root: Path) -> None:
    """Takes it away where nothing is to come back any more: after the end of a run."""
    settings = read("boot.settings", folder(root) / "settings.json")
    if settings and is_mine(settings) and not is_wanted(root):
        take_away(root)


def is_wanted(root: Path) -> bool:
    """Whether there is anything that is to come back."""
    return bool(wanted(root)) or (root / "gpu" / "settings.json").exists() or _has_open_run(root)


def _has_open_run(root: Path) -> bool:
    if not (root / "runs").is_dir():
        return False
    from flexrack_node.run.files import all_runs  # only here: who lists what is installed needs none
    from flexrack_node.run.resumption import is_open

    return any(is_open(run) for run in all_runs(root))


def is_set_up(root: Path) -> bool:
    return (folder(root) / "settings.json").exists()


def is_off() -> bool:
    """A local rack's nodes are folders of one machine: `local up` starts them."""
    return "FLEXRACK_LOCAL_RACK" in os.environ or os.environ.get(SWITCH) == "stay"


def is_mine(settings: Mapping[str, Any]) -> bool:
    """Whether they are of this machine. Login nodes of a Slurm are one to the folder, so the folder's claim does not
    tell.
    """
    return home.is_same(settings["machine"], home.facts())


def folder(root: Path) -> Path:
    return root / "boot"


def unit_path(root: Path) -> Path:
    import hashlib

    return folder(root) / f"flexrack-boot-{hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]}.service"


def script(root: Path) -> str:
    import shlex

    return shlex.quote(str(folder(root) / "resume"))


def command(root: Path) -> str:
    return in_crontab(_WAITING.format(script(root)))


def in_crontab(text: str) -> str:
    return text.replace("%", "\\%")  # what follows a % would be the command's input: crontab(5)


def unit_text(root: Path) -> str:
    run = " ".join(systemd.quote(word) for word in ("/bin/sh", "-c", _WAITING.format(script(root))))
    return "\n".join(
        [
            "[Unit]",
            "Description=flexrack: what runs on this node comes back after a reboot",
            "",
            # It stays active for what it has started, which a stop ends in order. Services make cgroups of their own in
            # that of the unit.
            "[Service]",
            f"ExecStart={run}",
            "RemainAfterExit=yes",
            "Delegate=yes",
            "TimeoutStopSec=60",
            "UMask=0077",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        ]
    )


def write_script(channel: Channel) -> None:
    """It has what changes with versions, so that the unit and the crontab never do."""

    import shlex

    program = Path(__file__).resolve().parents[1]
    words = " ".join(shlex.quote(str(word)) for word in (program, "boot.resume", channel.root, channel.environments))
    log = shlex.quote(str(folder(channel.root) / "log"))
    text = f"""#!/bin/sh
# flexrack: starts again what is to run on this node. systemd or cron runs it once after a reboot.
umask 077
if (: >>{log}) 2>/dev/null; then exec >>{log} 2>&1; fi
p={shlex.quote(sys.executable)}
[ -x "$p" ] || p=$(command -v python3)
cd / && exec "$p" -I -S {words} </dev/null
"""
    path = folder(channel.root) / "resume"
    if path.exists() and path.read_text() == text:
        return
    replace_file(path, text, mode=0o700)


@contextmanager
def locked(root: Path) -> Iterator[None]:
    folder(root).mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(folder(root) / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
