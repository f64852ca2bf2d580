"""One holder at a time of something, also after the holder was killed: the kernel keeps the lock; on a shared file
system, among all machines.
"""

import getpass
import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any, Mapping, Optional, TypedDict

from flexrack_node.base import shared_lock
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError


class Holder(TypedDict, total=False):
    """What who holds it has written into the file; nothing between its lock and its note."""

    pid: int
    host: str
    user: str
    owner: str
    since: float
    asker: Mapping[str, Any]


class CallerGone(BrokenPipeError):
    """Nobody reads our answer any more: the command was interrupted or the connection lost."""


class FileLock:
    """Waits for the lock, telling the caller who holds it; with `wait` false, raises LOCKED instead.

    The holder may remove the file together with the folder it is in: who waited then takes the lock of the new file.
    `owner` says who holds it to those who wait: a person at a machine, where the caller knows that. `asker` is handed
    to them as it is.
    """

    def __init__(
        self,
        file: Path,
        channel: Channel,
        purpose: str,
        wait: bool = True,
        seconds: float = 3600,
        owner: Optional[str] = None,
        asker: Optional[Mapping[str, Any]] = None,
    ) -> None:
        self.file, self.channel, self.purpose, self.wait, self.seconds = file, channel, purpose, wait, seconds
        self.owner, self.asker = owner, asker
        self.fd = -1

    def __enter__(self) -> "FileLock":
        self._open()
        started = reported = time.monotonic()
        while not self._try():
            now = time.monotonic()
            holder = self._holder()
            if not self.wait or now - started > self.seconds:
                os.close(self.fd)
                raise NodeError("LOCKED", f"{self.purpose} is held by {holder_text(holder)}", None, holder=holder)
            # Right after it was taken the holder's note is not there yet; then the next look has it.
            if (reported == started and (holder or now - started > 1)) or now - reported > 2:
                reported = now
                self.channel.event(
                    "waiting", purpose=self.purpose, holder=holder, text=f"waiting for {holder_text(holder)}"
                )
            check_caller()
            time.sleep(0.1)
        me = {
            "pid": os.getpid(),
            "user": user_name(),
            "host": os.environ.get("FLEXRACK_NODE") or os.uname().nodename,
            "since": int(time.time()),
            "purpose": self.purpose,
            "owner": self.owner,
            "asker": self.asker,
        }
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, json.dumps(me).encode(), 0)
        return self

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self.fd, 0)
        shared_lock.let_go(self.fd)
        os.close(self.fd)

    def _open(self) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.fd = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)

    def _try(self) -> bool:
        if not shared_lock.take(self.fd):
            return False
        try:
            if os.path.samestat(os.fstat(self.fd), os.stat(self.file, follow_symlinks=False)):
                return True
        except FileNotFoundError:
            pass
        os.close(self.fd)  # the file was removed while we waited: lock the one that is there now
        self._open()
        return False

    def _holder(self) -> "Holder":
        try:
            found: Holder = json.loads(os.pread(self.fd, 4096, 0))
            return found
        except (OSError, ValueError):  # between its lock and its note
            return {}


def is_held(file: Path) -> bool:
    """Whether somebody holds a FileLock now."""
    try:
        fd = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not shared_lock.take(fd, shared=True)
    finally:
        os.close(fd)


def holder_text(holder: Holder) -> str:
    """`ada on node-1 (pid 12) for 3 s`"""
    if not holder:
        return "another process"
    seconds = max(0, int(time.time()) - int(holder.get("since", 0)))
    who = holder.get("owner") or holder.get("user", "somebody")
    return f"{who} on {holder.get('host', 'this node')} (pid {holder.get('pid')}, since {seconds} s)"


def user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a number without an entry in passwd, as in containers
        return str(os.getuid())


def is_caller_gone() -> bool:
    """True when the other end of our stdout was closed; nothing is written to find out."""
    watch = select.poll()
    try:
        watch.register(sys.stdout.fileno(), 0)
        return any(events & (select.POLLERR | select.POLLHUP | select.POLLNVAL) for _, events in watch.poll(0))
    except (OSError, ValueError):
        return False


def check_caller() -> None:
    if is_caller_gone():
        raise CallerGone("the caller has gone")
