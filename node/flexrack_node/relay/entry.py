"""One entry of the relay's journal (relay/journal.py): a write, as a line of it says."""

import base64
import json
from pathlib import Path
from typing import Any, Mapping, Optional

from flexrack_node.base import stored


class Entry:
    """One write: what to send, where its body is, and where the next entry begins."""

    def __init__(self, line: bytes, folder: Path, end: int) -> None:
        """`line` of the journal; one that cannot be read has no method."""
        self.end = end
        try:
            self.record: Mapping[str, Any] = stored.current("relay.entry", json.loads(line), folder / "journal.jsonl")
            self.method: str = self.record["method"]
            self.path: str = self.record["path"]
            self.kind: str = self.record["type"]
            self.file: Optional[Path] = folder / Path(self.record["file"]).name if self.record.get("file") else None
            self.inline: bytes = base64.b64decode(self.record.get("body", ""))
        except (ValueError, KeyError, TypeError):
            self.record = {"method": "", "path": "", "type": "", "line": line.decode("utf-8", "replace")[:2000]}
            self.method, self.path, self.kind, self.file, self.inline = "", "", "", None, b""

    def size(self) -> int:
        """Bytes of its body; 0 where that is gone."""
        try:
            return self.file.stat().st_size if self.file else len(self.inline)
        except FileNotFoundError:
            return 0

    def is_taken(self) -> bool:
        """Whether the server has it, though a kill came before that was written down."""
        return self.file is not None and not self.file.exists()
