"""What TensorBoard says of event files, and shows nobody."""

import logging
import os
import re
import threading
from pathlib import Path
from typing import Dict

_DAMAGED = re.compile(r"Read error in (.+?tfevents.+?): (.+)")

_SMALL_TALK = re.compile(r"\[\S+ (?:INFO|DEBUG|TRACE) ")


class Said(logging.Handler):
    """What is said of the files: that all there was has been read, and which ones are damaged; TensorBoard shows the
    rest of those.

    TensorBoard's words (event_file_loader.py, local_ingester.py) come here as log records, its data
    server's (rustboard) as lines of standard error.
    """

    def __init__(self, logs: Path) -> None:
        super().__init__(logging.DEBUG)
        self.logs = logs
        self.loads = 0
        self.damaged: Dict[str, str] = {}

    def emit(self, entry: logging.LogRecord) -> None:
        if entry.msg.startswith("TensorBoard done reloading"):
            self.loads += 1
        elif (
            entry.msg.startswith("Truncated record in")
            and isinstance(entry.args, tuple)
            and "crc32" in str(entry.args[1])
        ):
            self.damage(str(entry.args[0]), str(entry.args[1]).rpartition(" failed ")[2])
        elif entry.levelno >= logging.WARNING:
            print(f"{entry.levelname.lower()}: {entry.getMessage()}", flush=True)

    def damage(self, path: str, why: str) -> None:
        self.damaged[os.path.relpath(path, self.logs)] = (
            "a checksum is wrong" if re.search("checksum|crc", why, re.IGNORECASE) else why
        )

    def listen(self) -> None:
        """Reads standard error of this process and of what it starts; what is no small talk goes on to the log."""
        read_end, write_end = os.pipe()
        os.dup2(write_end, 2)
        os.close(write_end)
        threading.Thread(target=self._lines, args=(read_end,), daemon=True).start()

    def _lines(self, read_end: int) -> None:
        with os.fdopen(read_end, "r", errors="replace") as lines:
            for line in lines:
                damaged = _DAMAGED.search(line)
                if damaged:
                    self.damage(damaged.group(1), damaged.group(2))
                elif "Finished load cycle" in line:
                    self.loads += 1
                elif not _SMALL_TALK.match(line):
                    print(line.rstrip(), flush=True)
