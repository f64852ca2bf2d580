"""Where the reservations of a node are, and how they are read and written among users who need not trust each other.

    /run/lock (else /tmp)                       root's, sticky, writable for all: whoever made an entry is the only one who can take it away
        flexrack-reservations-<uid>[-<n>]/      of one user, 0755; known by its owner and never by its name
            <lease>.<8 hex>.json                one record, 0644, replaced whole; 8 hex: of flexrack's folder, so that two nodes on one machine differ

    record  {lease, fence, state: waiting|prepared|confirmed|running, boot, heartbeat, ttl, since, owner, project, node, nodes, root, domain,
             wants: {gpus, slots, exclusive}, holders: [{pid, start}], pidns}; read: and {uid, user, file}

Deciding and writing happen under flock(2) on the shared folder itself, which nobody but root can replace. docs/adr/0014
says why all this.
"""

import contextlib
import fcntl
import json
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional, Union

from flexrack_node.base import installed, stored
from flexrack_node.base.errors import NodeError
from flexrack_node.reservation.record_file import read_record, size_of

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record
    from flexrack_node.schema.nodefiles import KeptReservation

PLACES = ("/run/lock", "/tmp")
VARIABLE = "FLEXRACK_RESERVATIONS"
_PREFIX = "flexrack-reservations-"
_LOCK_SECONDS = 10.0
_MAX_FILES = 1000  # of one user, in all their folders
_MAX_USER_BYTES = 16 * 1024 * 1024  # of one user: everybody reads them with the lock held
_MAX_NAMES = 100  # that a user's folder may have


class Place:
    """The folder that all users of this node share. `shared` is false where there is none and only this user's runs see
    each other.
    """

    def __init__(self, folder: Path, shared: bool) -> None:
        self.folder, self.shared = folder, shared
        self.damaged = 0

    @contextlib.contextmanager
    def locked(self, seconds: float = _LOCK_SECONDS) -> Iterator[None]:
        """One at a time. Raises LOCKED: anybody can hold it, so nobody waits for ever."""
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            end = time.monotonic() + seconds
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise NodeError(
                            "LOCKED",
                            f"another process has held the reservations of this node for {seconds:.0f} s",
                            f"fuser {self.folder}",
                        ) from None
                    time.sleep(0.005)
            yield
        finally:
            os.close(fd)

    def records(self) -> "List[Record]":
        """What every user has written here, dead or alive. What cannot be believed is passed over and counted in
        `damaged`.
        """
        found: List[Record] = []
        read: Dict[int, List[int]] = {}  # by user: files and bytes
        self.damaged = 0
        for name in sorted(os.listdir(self.folder)):
            if name.startswith(_PREFIX):
                found += self._of_user(name, read)
        return found

    def write(self, record: "Union[KeptReservation, Record]") -> None:
        """Replaces the record's file, or leaves it as it was. Raises NODE_UNFIT (no space)."""
        folder = self._own(make=True)
        assert folder is not None
        path = folder / file_name(record["lease"], record["root"])
        kept = {key: value for key, value in record.items() if key not in ("uid", "user", "file")}
        try:
            text = json.dumps(stored.stamped("reservation.record", kept), separators=(",", ":"))
            stored.replace_file(path, text, mode=0o644, durable=False)
        except OSError as error:
            raise NodeError(
                "NODE_UNFIT", f"{path} cannot be written: {error.strerror}", f"df -h {self.folder}"
            ) from error

    def read_own(self, lease: str, root: Path) -> "Optional[Record]":
        """This user's record of a lease for a node; None where there is none."""
        folder = self._own(make=False)
        if folder is None:
            return None
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return read_record(fd, folder / file_name(lease, str(root)), os.geteuid())
        finally:
            os.close(fd)

    def remove(self, record: "Record") -> None:
        """The record's file, and its user's folder with the last one: nothing is left behind."""
        path = Path(record["file"])
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()

    def remove_damaged(self) -> None:
        """Own files that hold no record: nothing reads them, and they would stay for ever."""
        folder = self._own(make=False)
        if folder is None:
            return
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in os.listdir(fd):
                if name.startswith(".") or read_record(fd, folder / name, os.geteuid()) is None:
                    with contextlib.suppress(OSError):
                        os.unlink(name, dir_fd=fd)
        finally:
            os.close(fd)

    def _of_user(self, name: str, read: Dict[int, List[int]]) -> "List[Record]":
        try:
            fd = os.open(self.folder / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return []
        try:
            info = os.fstat(fd)
            if info.st_mode & 0o022:
                return []  # anybody may have put anything there
            found = []
            sums = read.setdefault(info.st_uid, [0, 0])
            for file in sorted(os.listdir(fd)):
                if file.endswith(".json") and not file.startswith("."):
                    sums[0] += 1
                    sums[1] += size_of(fd, file)
                    within = sums[0] <= _MAX_FILES and sums[1] <= _MAX_USER_BYTES
                    record = read_record(fd, self.folder / name / file, info.st_uid) if within else None
                    if record:
                        found.append(record)
                    else:
                        self.damaged += 1
            return found
        except OSError:  # closed to us
            return []
        finally:
            os.close(fd)

    def _own(self, make: bool) -> Optional[Path]:
        """This user's folder, made where it is missing and wanted. A name that somebody else has taken only makes ours
        longer.

        The one that is there comes first, whatever its number: who gives back a name before it, or takes one, must not
        hide what is in ours.
        """
        uid = os.geteuid()
        paths = [self.folder / f"{_PREFIX}{uid}{f'-{number}' if number else ''}" for number in range(_MAX_NAMES)]
        for path in paths:
            if _is_own_folder(path, uid):
                return path
        if not make:
            return None
        for path in paths:
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o755)
            if _is_own_folder(path, uid):
                return path
        raise NodeError(
            "NODE_UNFIT",
            f"somebody has taken every name for our reservations in {self.folder}",
            f"ls -ld {self.folder}/{_PREFIX}{uid}*",
        )


def open_place(root: Path) -> Place:
    """The shared folder of this node. `root`: flexrack's folder, used where no folder is shared. Raises NODE_UNFIT for
    one that was named and is unsafe.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not _is_safe(named, own=True):
            raise NodeError(
                "NODE_UNFIT",
                f"{named} ({VARIABLE}) must be a folder of root or yours, and sticky where others can write to it",
                f"chmod 1777 {named}",
            )
        return Place(Path(named), shared=True)
    for shared in PLACES:
        if _is_safe(shared, own=False):
            return Place(Path(shared), shared=True)
    folder = root / "reservations"
    installed.record(root, folder, "reservations")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Place(folder, shared=False)


def file_name(lease: str, root: str) -> str:
    import hashlib

    return f"{lease}.{hashlib.sha256(os.path.realpath(root).encode()).hexdigest()[:8]}.json"


def _is_safe(folder: str, own: bool) -> bool:
    try:
        info = os.lstat(folder)
    except OSError:
        return False
    if not stat.S_ISDIR(info.st_mode):
        return False
    if own and info.st_uid == os.geteuid() and not info.st_mode & 0o022:
        return True
    return (info.st_uid == 0 or (own and info.st_uid == os.geteuid())) and info.st_mode & 0o1777 == 0o1777


def _is_own_folder(path: Path, uid: int) -> bool:
    """Everybody may read it then, whatever the umask was."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != uid:
        return False
    if info.st_mode & 0o777 != 0o755:
        path.chmod(0o755)
    return True
