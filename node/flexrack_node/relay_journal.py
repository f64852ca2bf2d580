"""The relay's journal: writes that the tracking server has not taken yet, durable before they are acknowledged.

A spool folder holds:  journal.jsonl   one entry a line, in order     position   how many bytes of it were taken
                       body-N          bodies too large for a line    rejected.jsonl   what the server refused, and why
"""
import base64
import fcntl
import json
import os
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

INLINE_BYTES = 256 * 1024


class SpoolFull(Exception):
    """The spool's limit is reached, or the disk is full: the write is not kept and must not be acknowledged."""


class Entry:
    """One write: what to send, where its body is, and where the next entry begins."""

    def __init__(self, record: Dict[str, Any], folder: Path, end: int) -> None:
        self.method: str = record["method"]
        self.path: str = record["path"]
        self.kind: str = record["type"]
        self.file: Optional[Path] = folder / record["file"] if record.get("file") else None
        self.inline: bytes = base64.b64decode(record.get("body", ""))
        self.end = end

    def size(self) -> int:
        return self.file.stat().st_size if self.file else len(self.inline)


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
        self._position = self._read_position()
        self._size = self._cut_torn_end()
        self._bodies = 0
        self._next = 0
        self.pending = 0
        self._count()

    def append(self, method: str, path: str, kind: str, body: "bytes | Path") -> None:
        """Keeps one write. When this returns it survives kill -9 and power loss. `body` may be a file of the spool's folder."""
        record: Dict[str, Any] = {"method": method, "path": path, "type": kind, "at": time.time()}
        large = isinstance(body, Path) or len(body) > INLINE_BYTES
        with self._lock:
            room = self._limit + (0 if large else self._reserve) - self._size - self._bodies
            size = body.stat().st_size if isinstance(body, Path) else len(body)
            if size > room:
                raise SpoolFull(f"{size} bytes do not fit into the spool of {self._limit} bytes")
            try:
                if large:
                    record["file"] = self._keep_body(body, size)
                else:
                    record["body"] = base64.b64encode(body).decode()  # type: ignore[arg-type]
                line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
                write_all(self._output, line)
                os.fdatasync(self._output)
            except OSError as error:
                os.ftruncate(self._output, self._size)
                raise SpoolFull(f"the spool cannot be written: {error.strerror}") from error
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
                entries.append(Entry(json.loads(line), self.folder, position))
        return entries

    def taken(self, entries: List[Entry]) -> None:
        """Forgets the first entries: the server has them. Losing this in a crash only sends them once more."""
        with self._lock:
            self._position = entries[-1].end
            self.pending -= len(entries)
            if self._position >= self._size:
                os.ftruncate(self._output, 0)
                self._position = self._size = 0
            write_whole(self.folder / "position", str(self._position).encode())
            for entry in entries:
                if entry.file:
                    self._bodies -= entry.size()
                    entry.file.unlink()

    def reject(self, entry: Entry, status: int, answer: str) -> None:
        """Sets the first entry aside for people to look at: the server will never take it."""
        record = {"at": time.time(), "method": entry.method, "path": entry.path, "status": status, "answer": answer[:2000],
                  "body": entry.inline.decode("utf-8", "replace") if not entry.file else None}
        with open(self.folder / "rejected.jsonl", "a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.taken([entry])

    def scratch(self) -> Path:
        """A new file name in the spool's folder for a body that is still coming in; give it to append, or remove it."""
        with self._lock:
            self._next += 1
            return self.folder / f"body-{self._next}"

    def close(self) -> None:
        self._input.close()
        os.close(self._output)
        self._guard.close()

    def _keep_body(self, body: "bytes | Path", size: int) -> str:
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
        self._bodies += size
        return path.name

    def _read_position(self) -> int:
        try:
            return int((self.folder / "position").read_text())
        except (FileNotFoundError, ValueError):
            return 0

    def _cut_torn_end(self) -> int:
        """Drops a last line that was cut off by a crash: it was never acknowledged."""
        data = (self.folder / "journal.jsonl").read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._output, whole)
        if self._position > whole:  # the journal was emptied, the position was not yet written
            self._position = 0
        return whole

    def _count(self) -> None:
        """Counts what is pending, and removes bodies that no entry names: their write was never acknowledged."""
        self._input.seek(self._position)
        named = set()
        for line in self._input:
            self.pending += 1
            named.add(json.loads(line).get("file"))
        for path in self.folder.glob("body-*"):
            if path.name in named:
                self._bodies += path.stat().st_size
                self._next = max(self._next, int(path.name[5:]))
            else:
                path.unlink()


def write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data):]


def write_whole(path: Path, data: bytes) -> None:
    """Replaces a small file in one step. Not synced: for what may be done again."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def rejected(folder: Path) -> Tuple[int, Optional[str]]:
    """How many writes the server refused for good, and its last answer."""
    try:
        lines = (folder / "rejected.jsonl").read_text().splitlines()
    except FileNotFoundError:
        return 0, None
    return len(lines), (json.loads(lines[-1])["answer"] if lines else None)
