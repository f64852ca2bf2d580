"""How a verb talks to its caller: JSON input on the first line of stdin, JSON lines on stdout.

{"event": KIND, ...}     any number, as things happen
{"result": VALUE}        once, last
{"error": {...}}         instead of a result
"""

import json
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

_write_lock = threading.Lock()


class Channel:
    """Given to every verb. `root` is flexrack's folder on this node; `body` is what follows the input on stdin."""

    def __init__(self, root: Path, environments: Path, body: BinaryIO) -> None:
        self.root = root
        self.environments = environments
        self.body = body

    def event(self, kind: str, **fields: Any) -> None:
        """Tells the caller something before the result."""
        write_line({"event": kind, **fields})


def write_line(value: Any) -> None:
    """One JSON value as one line on stdout, whole even with several threads."""
    data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
    with _write_lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
