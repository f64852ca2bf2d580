"""The GPU daemon as a systemd user unit, where the user has a service manager: it comes back after a crash, and after a reboot.

KillMode=process: a stop or a restart reaches the broker only, its workers run on. The unit file lies in flexrack's own
folder; systemd is given a link to it, and `remove` takes that away.
"""
import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List

TIMEOUT_SECONDS = 60


def is_usable() -> bool:
    """A local rack's nodes are folders of one machine, and its end must reach everything: never there."""
    if "FLEXRACK_LOCAL_RACK" in os.environ or not shutil.which("systemctl"):
        return False
    return call("show-environment").returncode == 0


def has_linger() -> bool:
    """False where systemd ends the user's services at logout."""
    try:
        done = subprocess.run(["loginctl", "show-user", str(os.getuid()), "-P", "Linger"], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == "yes"


def start(folder: Path, argv: List[str], env: Dict[str, str]) -> bool:
    """Has exactly this run, now and after a reboot. False where it did already."""
    path = unit_path(folder)
    text = unit_text(argv, env)
    same = path.exists() and path.read_text() == text
    if same and call("is-active", "--quiet", path.name).returncode == 0:
        return False
    path.write_text(text)
    path.chmod(0o600)
    call("daemon-reload")
    call("enable", "--quiet", str(path))
    call("reset-failed", path.name)
    call("restart", path.name)
    return True


def remove(folder: Path) -> None:
    path = unit_path(folder)
    if not path.exists():
        return
    call("disable", "--now", "--quiet", path.name)
    path.unlink(missing_ok=True)
    call("daemon-reload")
    call("reset-failed", path.name)


def last_lines(folder: Path) -> str:
    done = subprocess.run(["journalctl", "--user", "--no-pager", "-o", "cat", "-n", "20", "-u", unit_path(folder).name],
                          capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, env=environment())
    return done.stdout


def unit_path(folder: Path) -> Path:
    """Several roots of one user do not meet: the folder is part of the name."""
    return folder / f"flexrack-gpud-{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}.service"


def unit_text(argv: List[str], env: Dict[str, str]) -> str:
    lines = [
        # The link by which it is started after a reboot lies in the home, which other machines may have, too.
        "[Unit]", f"ConditionHost={os.uname().nodename}", "Description=flexrack: the GPUs of this node, for other machines", "StartLimitIntervalSec=120", "StartLimitBurst=20", "",
        "[Service]", f"ExecStart={' '.join(quote(word) for word in argv)}",
        *[f"Environment={quote(f'{name}={value}')}" for name, value in sorted(env.items())],
        # Exit codes that another start would not change: usage, no devices, another broker, rights.
        "Restart=always", "RestartSec=0.5", "RestartPreventExitStatus=64 69 75 77", "KillMode=process", "TimeoutStopSec=15", "UMask=0077", "",
        "[Install]", "WantedBy=default.target", "",
    ]
    return "\n".join(lines)


def quote(word: str) -> str:
    """One word of a unit file: systemd.syntax(7), with its specifiers and variables taken as text."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$").replace("\n", "\\n")
    return f'"{text}"'


def call(*words: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(["systemctl", "--user", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False, env=environment())
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(words), 1, "", str(error))


def environment() -> Dict[str, str]:
    """A connection without a login session does not know its service manager's socket."""
    return {**os.environ, "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"}
