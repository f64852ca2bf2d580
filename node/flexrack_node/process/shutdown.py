"""Whether the machine is going down: then who ends a process is nobody who wants its end."""

import os
import subprocess
from pathlib import Path

_PATIENCE_SECONDS = 3.0


def goes_down() -> bool:
    """As systemd says, the machine's or the account's; False where there is none, or it does not answer."""
    return _is_last() or any(_is_stopping(*words) for words in ((), ("--user",)))


def _is_last(first_process: Path = Path("/proc/1/comm")) -> bool:
    """Whether systemd has gone already, and systemd-shutdown ends what is left; it answers nobody."""
    try:
        return first_process.read_text().startswith("systemd-shut")
    except OSError:
        return False


def _is_stopping(*words: str) -> bool:
    env = {**os.environ, "XDG_RUNTIME_DIR": os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"}
    try:
        done = subprocess.run(
            ["systemctl", *words, "is-system-running"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
            env=env,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == "stopping"
