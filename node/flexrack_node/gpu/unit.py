"""The GPU daemon as a systemd user unit, where the user has a service manager: it comes back after a crash, and after a
reboot.

KillMode=process: a stop or a restart reaches the broker only, its workers run on. The unit file lies in flexrack's own
folder; systemd is given a link to it, and `remove` takes that away.
"""

import os
import subprocess
from pathlib import Path
from typing import Dict, List

from flexrack_node.service.systemd import TIMEOUT_SECONDS, call, environment, put, quote
from flexrack_node.service.systemd import remove as remove_unit


def start(folder: Path, argv: List[str], env: Dict[str, str]) -> bool:
    """Has exactly this run, now and after a reboot. False where it did already."""
    path = unit_path(folder)
    if not put(path, unit_text(argv, env)) and call("is-active", "--quiet", path.name).returncode == 0:
        return False
    call("reset-failed", path.name)
    call("restart", path.name)
    return True


def remove(folder: Path) -> None:
    remove_unit(unit_path(folder), stop=True)


def last_lines(folder: Path) -> str:
    done = subprocess.run(
        ["journalctl", "--user", "--no-pager", "-o", "cat", "-n", "20", "-u", unit_path(folder).name],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
        env=environment(),
    )
    return done.stdout


def unit_path(folder: Path) -> Path:
    """Several roots of one user do not meet: the folder is part of the name."""

    import hashlib

    return folder / f"flexrack-gpud-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}.service"


def unit_text(argv: List[str], env: Dict[str, str]) -> str:
    lines = [
        # The link by which it is started after a reboot lies in the home, which other machines may have, too.
        "[Unit]",
        f"ConditionHost={os.uname().nodename}",
        "Description=flexrack: the GPUs of this node, for other machines",
        "StartLimitIntervalSec=120",
        "StartLimitBurst=20",
        "",
        "[Service]",
        f"ExecStart={' '.join(quote(word) for word in argv)}",
        *[f"Environment={quote(f'{name}={value}')}" for name, value in sorted(env.items())],
        # Exit codes that another start would not change: usage, no devices, another broker, rights.
        "Restart=always",
        "RestartSec=0.5",
        "RestartPreventExitStatus=64 69 75 77",
        "KillMode=process",
        "TimeoutStopSec=15",
        "UMask=0077",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return "\n".join(lines)
