"""The log of a service: `log` and, after a rotation, `log.1`. Offsets count from the first byte ever written.

The service appends to `log` itself, not through its supervisor: a supervisor that dies takes no output with it and
breaks no pipe. So rotation copies and then truncates; what is written within that instant may be missing from log.1.
"""

import os
from pathlib import Path
from typing import Tuple

from flexrack_node.base.file_part import read_from
from flexrack_node.base.stored import or_nothing, read, write

ROTATE_BYTES = 8 * 1024 * 1024


class ServiceLog:
    def __init__(self, folder: Path, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.path = folder / "log"
        self.older = folder / "log.1"
        self.bases = folder / "log.json"
        self.rotate_bytes = rotate_bytes

    def open(self) -> int:
        """A descriptor that appends, for the service's stdout and stderr."""
        return os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def rotate(self) -> bool:
        """Moves what is there to log.1 where it has grown too large."""

        import shutil

        size = self._size(self.path)
        if size <= self.rotate_bytes:
            return False
        _older, base = self._bases()
        part = self.older.with_name(".log.1")
        with open(self.path, "r+b") as source, open(part, "wb") as target:
            shutil.copyfileobj(source, target)
            copied = source.tell()
            source.truncate(0)
        os.replace(part, self.older)
        write("service.log", self.bases, {"older": base, "current": base + copied})
        return True

    def end(self) -> int:
        """Offset after the last byte."""
        return self._bases()[1] + self._size(self.path)

    def read(self, offset: int, limit: int = 256 * 1024) -> Tuple[int, bytes]:
        """Bytes from an offset on, and where they begin: later than asked where the beginning is rotated away."""
        older, base = self._bases()
        if offset < base and self.older.is_file():
            offset = max(offset, older)
            data = read_from(self.older, offset - older, limit)
            if data:
                return offset, data
        offset = max(offset, base)
        return offset, read_from(self.path, offset - base, limit)

    def _bases(self) -> Tuple[int, int]:
        value = or_nothing(read("service.log", self.bases))
        return int(value.get("older", 0)), int(value.get("current", 0))

    @staticmethod
    def _size(path: Path) -> int:
        try:
            return path.stat().st_size
        except OSError:
            return 0
