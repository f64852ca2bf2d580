"""The relay's journal: writes that the tracking server has not taken yet, durable before they are acknowledged.

A spool folder holds:  journal.jsonl   one entry a line, in order     position   how many bytes of it were taken
                       body-N          bodies too large for a line    rejected.jsonl   what the server did not take, why, and its entry

What was acknowledged is removed for one reason only: the server has it. So an entry whose body is gone was taken, and
the rest of what a kill leaves behind is sent once more, which changes nothing there.
"""

import base64
import fcntl
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, List, cast

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError
from flexrack_node.relay.entry import Entry

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import RelayRejected, RelayWrite

INLINE_BYTES = 256 * 1024


class SpoolFull(Exception):
    """The spool's limit is reached, or the disk is full: the write is not kept and must not be acknowledged."""


class Journal:
    """Append from many threads, replay from one. One process at a time has a spool open."""

    def __init__(self, folder: Path, limit: int, reserve: int = 64 * 1024 * 1024) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder = folder
        self._limit = limit
        self._reserve = reserve
        self._lock = threading.Lock()
        self._guard = open(folder / "lock", "w")
        try:
            fcntl.flock(self._guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._guard.close()
            raise
        self._output = os.open(folder / "journal.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._input = open(folder / "journal.jsonl", "rb")
        self._mark = os.open(folder / "position", os.O_RDWR | os.O_CREAT, 0o600)
        self._size = self._cut_torn_end()
        self._position = self._read_position()
        self._bodies = 0
        self._next = 0
        self.pending = 0
        try:
            self._count()
        except NodeError:  # of a newer version
            self.close()
            raise

    def append(self, method: str, path: str, kind: str, body: "bytes | Path") -> None:
        """Keeps one write. When this returns it survives kill -9 and power loss. `body` may be a file of the spool's
        folder.
        """
        record: RelayWrite = {"method": method, "path": path, "type": kind, "at": time.time()}
        large = isinstance(body, Path) or len(body) > INLINE_BYTES
        with self._lock:
            room = self._limit + (0 if large else self._reserve) - self._size - self._bodies
            size = body.stat().st_size if isinstance(body, Path) else len(body)
            if size > room:
                raise SpoolFull(f"{size} bytes do not fit into the spool of {self._limit} bytes")
            try:
                if large:
                    record["file"] = self._keep_body(body)
                else:
                    record["body"] = base64.b64encode(body).decode()  # type: ignore[arg-type]
                self._append(record)
            except OSError as error:
                if large and not isinstance(body, Path):
                    (self.folder / f"body-{self._next}").unlink(missing_ok=True)
                raise SpoolFull(f"the spool cannot be written: {error.strerror}") from error
            self._bodies += size if large else 0

    def _append(self, record: "RelayWrite") -> None:
        """One line, durable; the caller holds the lock. Raises OSError, and leaves nothing of it then."""
        line = stored.line("relay.entry", record)
        try:
            write_all(self._output, line)
            os.fdatasync(self._output)
        except OSError:
            os.ftruncate(self._output, self._size)
            raise
        self._size += len(line)
        self.pending += 1

    def first(self, most: int = 1) -> List[Entry]:
        """The oldest entries that were not taken, in order."""
        entries: List[Entry] = []
        with self._lock:
            position = self._position
            self._input.seek(position)
            while position < self._size and len(entries) < most:
                line = self._input.readline()
                position += len(line)
                entries.append(Entry(line, self.folder, position))
        return entries

    def taken(self, entries: List[Entry], keeps_bodies: bool = False) -> None:
        """Forgets the first entries: the server has them, or with `keeps_bodies` rejected.jsonl does. Needs no room on
        the disk.
        """
        with self._lock:
            self._position = entries[-1].end
            self.pending -= len(entries)
            is_empty = self._position >= self._size
            self._write_position(0 if is_empty else self._position, is_empty)
            if is_empty:
                os.ftruncate(self._output, 0)
                self._position = self._size = 0
            for entry in entries:
                if entry.file and not keeps_bodies:
                    self._bodies -= entry.size()
                    entry.file.unlink(missing_ok=True)

    def reject(self, entry: Entry, status: int, answer: str) -> None:
        """Sets the first entry aside with its body: the server does not take it. Raises OSError where that cannot be
        kept; it stays the first then.
        """
        record: RelayRejected = {
            "at": time.time(),
            "method": entry.method,
            "path": entry.path,
            "status": status,
            "answer": answer[:2000],
            "body": entry.inline[:2000].decode("utf-8", "replace") if not entry.file else None,
            "entry": dict(entry.record),
        }
        path = self.folder / "rejected.jsonl"
        with open(path, "ab+") as file:
            size = file.seek(0, os.SEEK_END)
            try:
                # cut off by a kill: not to be mixed with this one
                if size and os.pread(file.fileno(), 1, size - 1) != b"\n":
                    file.write(b"\n")
                file.write(stored.line("relay.rejected", record))
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), size)
                raise
        self.taken([entry], keeps_bodies=True)

    def take_back(self, is_wanted: Callable[[int], bool]) -> int:
        """Puts what was set aside with a status that is wanted at the journal's end, and says how much that was. Raises
        OSError.
        """
        with self._lock:
            kept: List[RelayRejected] = []
            count = 0
            for record in read_rejected(self.folder):
                entry = record.get("entry")
                if not entry or not entry.get("method") or not is_wanted(record["status"]):
                    kept.append(record)
                elif (
                    not entry.get("file") or (self.folder / entry["file"]).exists()
                ):  # a body that is gone was sent before a kill
                    self._append(cast("RelayWrite", entry))
                    count += 1
            if count:
                write_whole(
                    self.folder / "rejected.jsonl", b"".join(stored.line("relay.rejected", record) for record in kept)
                )
        return count

    def scratch(self) -> Path:
        """A new file name in the spool's folder for a body that is still coming in; give it to append, or remove it."""
        with self._lock:
            self._next += 1
            return self.folder / f"body-{self._next}"

    def close(self) -> None:
        self._input.close()
        os.close(self._output)
        os.close(self._mark)
        self._guard.close()

    def _keep_body(self, body: "bytes | Path") -> str:
        if isinstance(body, Path):
            path = body
            with open(path, "rb") as file:
                os.fsync(file.fileno())
        else:
            self._next += 1
            path = self.folder / f"body-{self._next}"
            with open(path, "wb") as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
        sync_folder(self.folder)
        return path.name

    def _write_position(self, position: int, durably: bool) -> None:
        """In place and always as long, so that it needs no room. It has to be on the disk before new entries take the
        place of those that were taken.
        """
        os.pwrite(self._mark, b"%020d" % position, 0)
        if durably:
            os.fdatasync(self._mark)

    def _read_position(self) -> int:
        """Where the first entry begins that was not taken. What cannot be one is put right, here and in the file:
        entries are sent once more then.
        """
        try:
            position = int(os.pread(self._mark, 64, 0))
        except ValueError:
            position = -1
        if 0 < position <= self._size:
            self._input.seek(position - 1)
            if self._input.read(1) == b"\n":
                return position
        if position != 0:
            os.ftruncate(self._mark, 0)
            self._write_position(0, True)
        return 0

    def _cut_torn_end(self) -> int:
        """Drops a last line that was cut off by a crash: it was never acknowledged."""
        data = (self.folder / "journal.jsonl").read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._output, whole)
        return whole

    def _count(self) -> None:
        """Counts what is pending, and removes bodies that no entry names: their write was never acknowledged."""
        self._input.seek(self._position)
        named = {
            entry["file"]
            for entry in (record.get("entry") or {} for record in read_rejected(self.folder))
            if entry.get("file")
        }
        for line in self._input:
            self.pending += 1
            named.add(Entry(line, self.folder, 0).record.get("file"))
        for path in self.folder.glob("body-*"):
            self._next = max(self._next, int(path.name[5:]))
            if path.name in named:
                self._bodies += path.stat().st_size
            else:
                path.unlink()


def write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def write_whole(path: Path, data: bytes) -> None:
    """Durably, its name in the folder too. Raises OSError, and leaves the old one then."""
    stored.replace_file(path, data)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def count_waiting(folder: Path) -> int:
    """Entries that an ended relay has left in its journal: neither taken nor set aside."""
    try:
        data = (folder / "journal.jsonl").read_bytes()
        position = int((folder / "position").read_bytes() or 0)
    except (FileNotFoundError, ValueError):
        return 0
    return data[position:].count(b"\n")


def read_rejected(folder: Path) -> "List[RelayRejected]":
    """What was set aside, oldest first; a line that a kill has cut off is none (its entry is still in the journal)."""
    try:
        lines = (folder / "rejected.jsonl").read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = (stored.read_line("relay.rejected", line, folder / "rejected.jsonl") for line in lines)
    return [record for record in found if record]
