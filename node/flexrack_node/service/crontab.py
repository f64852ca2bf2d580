"""The user's crontab, as far as flexrack uses it: one line, which cron runs after a reboot."""

import os
import subprocess
from pathlib import Path
from typing import List, Optional

from flexrack_node.base.errors import NodeError

TIMEOUT_SECONDS = 60
MARK = "# flexrack"
_DAEMONS = ("cron", "crond")
_PID_FILES = ("/run/crond.pid", "/run/cron.pid")
_ROUNDS = 3


def refusal() -> Optional[str]:
    """Why cron would not run our line after a reboot; None where it would."""

    import shutil

    program = shutil.which("crontab")
    if program is None:
        return "there is no cron"
    if Path(os.path.realpath(program)).name.startswith("busybox"):
        return "busybox's cron knows no @reboot"
    if not is_daemon_there():
        return "cron is installed, and does not run"
    done = call("-l")
    return None if is_readable(done) else f"crontab: {said(done)}"


def put(command: str) -> bool:
    """Has cron run this after a reboot; whatever else stands there stays as it is. False where it does not last. Raises
    NODE_UNFIT.
    """
    line = f"@reboot {command} {MARK}"
    if "\n" in line or "%" in line.replace("\\%", ""):
        raise NodeError("BUG", f"{line!r} is no line of a crontab")
    for _ in range(_ROUNDS):  # there is no lock that other editors know, so it is looked at again
        lines = read()
        if line in lines:
            return True
        write([*lines, line])
    return line in read()


def remove(part: str) -> None:
    """Takes away our lines that have `part` in them."""
    for _ in range(_ROUNDS):
        lines = read()
        kept = [line for line in lines if not is_ours(line, part)]
        if kept == lines:
            return
        write(kept)


def has(part: str) -> bool:
    return any(is_ours(line, part) for line in read())


def is_ours(line: str, part: str) -> bool:
    return line.startswith("@reboot ") and line.endswith(MARK) and part in line


def read() -> List[str]:
    """Raises NODE_UNFIT where it cannot be read: what was not seen must never be written over."""

    import shutil

    if shutil.which("crontab") is None:
        return []
    done = call("-l")
    if not is_readable(done):
        raise NodeError("NODE_UNFIT", f"the crontab cannot be read: {said(done)}")
    return done.stdout.splitlines() if done.returncode == 0 else []


def write(lines: List[str]) -> None:
    if not lines:
        call("-r")
        return
    done = call("-", text="\n".join(lines) + "\n")
    if done.returncode != 0:
        raise NodeError("NODE_UNFIT", f"the crontab cannot be written: {said(done)}")


def is_daemon_there() -> bool:
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and Path("/proc", name, "comm").read_text().strip() in _DAEMONS:
                return True
        except OSError:
            continue
    return any(Path(path).exists() for path in _PID_FILES) and is_hidden()


def is_hidden() -> bool:
    """Whether this user does not see processes of others (hidepid)."""
    return not Path("/proc/1/comm").exists()


def is_readable(done: "subprocess.CompletedProcess[str]") -> bool:
    return done.returncode == 0 or "no crontab" in done.stderr.lower()


def said(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]


def call(*words: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            ["crontab", *words],
            input=text,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(list(words), 1, "", str(error))
