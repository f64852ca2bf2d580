"""restic of this node, called for one repository: the node's own where it is new enough, else the one that was sent.

Facts: restic's docs, "Scripting" (--json, exit statuses: 3 is a backup that could not read all; 10 to 12 since 0.17
only), tried with 0.14 and 0.18.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.history.folder import HistoryFolder

OLDEST = (0, 14)  # repositories of version 2, which compress
_INCOMPLETE = 3
_TAIL = 4000
_MOST_ERRORS = 4 << 20
_DAMAGE = (
    "unable to open config",
    "ciphertext verification failed",
    "invalid data returned",
    "Is there a repository",
    "repository contains errors",
    "unable to open repository",
    "unable to load index",
    "not found in repository",
    "not found in index",
    "checking pack",
    "Load(<index",
    "Load(<data",
    "Load(<snapshot",
    "unexpected EOF",
    "There were",
)


def tools(root: Path) -> Path:
    return root / "history" / ".restic"


def version_of(program: str) -> Optional[Tuple[int, ...]]:
    try:
        done = subprocess.run(
            [program, "version"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"restic (\d+)\.(\d+)(?:\.(\d+))?", done.stdout)
    return tuple(int(one) for one in found.groups() if one) if found and done.returncode == 0 else None


def find(root: Path) -> Optional[str]:
    """The node's own, from 0.14 on; else the one that was sent last."""
    own = shutil.which("restic")
    version = version_of(own) if own else None
    if own and version and version >= OLDEST:
        return own
    sent = sorted(tools(root).glob("*/restic"), key=lambda one: one.stat().st_mtime, reverse=True)
    return next((str(one) for one in sent if os.access(one, os.X_OK)), None)


class Restic:
    """`lock`: a descriptor that each restic inherits, so that the lock is held for as long as one lives, also after its
    caller was killed.
    """

    def __init__(self, place: HistoryFolder, program: Optional[str] = None, lock: int = -1) -> None:
        found = program or find(place.root)
        if found is None:
            raise NodeError("NOT_FOUND", "there is no restic on this node that is new enough", "flexrack workspace up")
        self.program, self.place, self.lock = found, place, lock
        self.said: List[Any] = []  # on stderr by the last one, as far as it was JSON, and
        self.said_plainly: List[str] = []  # what was none

    def environment(self) -> Dict[str, str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("RESTIC_")}
        place = self.place
        return {
            **own,
            "RESTIC_PASSWORD_FILE": str(place.key),
            "RESTIC_REPOSITORY": str(place.repository),
            "RESTIC_CACHE_DIR": str(place.cache),
            "TZ": "UTC",
            "GOMAXPROCS": "2",
        }

    def run(
        self,
        *words: str,
        cwd: Optional[Path] = None,
        fine: Sequence[int] = (0,),
        on_line: Optional[Callable[[Any], None]] = None,
    ) -> List[Any]:
        """What it prints as JSON, line by line. Errors: CONFLICT (key, damage), NODE_UNFIT (no room), LOCKED,
        REMOTE_FAILED.
        """
        place = self.place
        if not place.key.exists() and place.exists():
            raise place.key_lost()
        env = self.environment()
        if cwd is not None:
            env["PWD"] = str(cwd)
        found: List[Any] = []
        said = b""
        errors = open(os.open(place.path, os.O_TMPFILE | os.O_RDWR, 0o600), "w+b") if hasattr(os, "O_TMPFILE") else None
        try:
            child = subprocess.Popen(
                [self.program, "--json", *words],
                cwd=str(cwd or place.path),
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors if errors else subprocess.DEVNULL,
                pass_fds=(self.lock,) if self.lock >= 0 else (),
            )
        except OSError as error:
            raise NodeError("REMOTE_FAILED", f"{self.program} cannot be started: {error.strerror}") from error
        try:
            assert child.stdout is not None
            for line in child.stdout:
                value = parsed(line)
                if value is None:
                    said = (said + line)[-_TAIL:]
                elif on_line is not None:
                    on_line(value)
                else:
                    found.append(value)
            child.wait()
        finally:
            end(child)
            if errors:
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - _MOST_ERRORS))
                said = errors.read() + b"\n" + said
                errors.close()
        self.said = [value for value in map(parsed, said.splitlines()) if value is not None]
        self.said_plainly = [
            line.decode(errors="surrogateescape") for line in said.splitlines() if parsed(line) is None
        ]
        if child.returncode not in fine:
            raise failure(place, child.returncode, said.decode(errors="replace"), words[0])
        return found


def parsed(line: bytes) -> Any:
    if not line.startswith((b"{", b"[")):
        return None
    try:
        return json.loads(line)
    except ValueError:
        return None


def end(child: "subprocess.Popen[bytes]") -> None:
    """restic puts its locks away where it is asked to end."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            child.send_signal(signal.SIGINT)
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.stdout:
        child.stdout.close()


def failure(place: HistoryFolder, status: int, said: str, what: str) -> NodeError:
    """What restic's words mean; newer ones say them as JSON (exit_error), older ones as text."""
    lines = [message_of(line) for line in said.splitlines() if line.strip()]
    lines = [one for one in lines if one and not one.startswith("repository ")] or [f"it ended with status {status}"]
    text = "\n".join(lines)
    anew = "flexrack workspace history --anew"
    if "no space left" in text or "disk quota exceeded" in text:
        return NodeError(
            "NODE_UNFIT",
            f"no space left on this node for the history of {place.project}",
            f"free some room; {place.path} is the history",
        )
    if "wrong password" in text or "no key found" in text or status == 12:
        return NodeError(
            "CONFLICT",
            f"the key {place.key} does not open the history of {place.project}",
            f"put the right one back, or begin anew: {anew}",
        )
    if "already locked" in text or "unable to create lock" in text or status == 11:
        return NodeError(
            "LOCKED",
            f"the history of {place.project} is locked by a restic of somebody else",
            "wait, or: restic unlock",
        )
    if status == 10 or any(one in text for one in _DAMAGE):
        return NodeError(
            "CONFLICT",
            f"the history of {place.project} is damaged: {lines[-1]}",
            f"what is whole can still be restored; to begin anew beside it: {anew}",
            log=lines[-10:],
        )
    return NodeError("REMOTE_FAILED", f"restic {what} failed: {lines[-1]}", None, log=lines[-10:])


def message_of(line: str) -> str:
    value = parsed(line.encode())
    if not isinstance(value, dict):
        return line.strip()
    error = value.get("error")
    return str(value.get("message") or (error.get("message") if isinstance(error, dict) else error) or "").strip()
