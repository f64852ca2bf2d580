"""One record of a reservation, as a file that another user has written: nothing of it is believed before it was looked at."""

import json
import os
import pwd
import re
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, cast

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError
from flexrack_node.reservation.life import MAX_TTL
from flexrack_node.reservation.rules import STATES

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record

_MAX_BYTES = 65536
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def size_of(fd: int, name: str) -> int:
    try:
        return os.lstat(name, dir_fd=fd).st_size
    except OSError:  # given back just now
        return 0


def read_record(fd: int, path: Path, uid: int) -> "Optional[Record]":
    """A record that is what it should be, from a regular file of that user; None otherwise. Never follows links, never
    waits for a FIFO.
    """
    try:
        file = os.open(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=fd)
    except OSError:
        return None
    try:
        info = os.fstat(file)
        if not stat.S_ISREG(info.st_mode) or info.st_uid != uid or info.st_size > _MAX_BYTES:
            return None
        record = json.loads(os.read(file, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    finally:
        os.close(file)
    try:
        record = stored.current("reservation.record", record, path)
    except NodeError:
        if time.time() - info.st_mtime > MAX_TTL:  # nobody renews it: it is no reservation any more, whatever it says
            return None
        raise
    return (
        cast("Record", {**record, "uid": uid, "user": user_name(uid), "file": str(path)})
        if _is_record(record)
        else None
    )


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    wants = value.get("wants")
    texts = all(
        isinstance(value.get(key), str) and len(value[key]) < 4096
        for key in ("lease", "boot", "owner", "node", "root", "domain", "pidns")
    )
    # no NaN
    numbers = all(
        type(value.get(key)) in (int, float) and abs(value[key]) < 1e18
        for key in ("fence", "heartbeat", "ttl", "since")
    )
    if not texts or not numbers or not isinstance(wants, dict) or not _NAME.fullmatch(value["lease"]):
        return False
    gpus, holders = wants.get("gpus"), value.get("holders")
    return (
        value.get("state") in STATES
        and 0 < value["ttl"] <= MAX_TTL
        and isinstance(wants.get("exclusive"), bool)
        and isinstance(wants.get("slots"), int)
        and isinstance(gpus, list)
        and all(isinstance(one, str) for one in gpus)
        and isinstance(holders, list)
        and all(
            isinstance(one, dict)
            and isinstance(one.get("pid"), int)
            and isinstance(one.get("start"), int)
            and one["pid"] > 0
            for one in holders
        )
    )


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
