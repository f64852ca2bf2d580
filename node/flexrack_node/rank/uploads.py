"""The uploads of a node's part of an attempt: a process of its own, which everything that ends ranks finds by their
tag.
"""

import os
import subprocess
from typing import TYPE_CHECKING, Optional

from flexrack_node.base.stored import read
from flexrack_node.process.containment import TAG, Containment
from flexrack_node.process.detach import python_module
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import RunUploaded


class Uploads:
    def __init__(self, folder: RunFolder, attempt: int, tag: str) -> None:
        self._folder, self._attempt, self._tag = folder, attempt, tag
        log = os.open(folder.attempt(attempt) / "agent.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                python_module("bucket.uploader", str(folder.path), str(attempt)),
                env={**os.environ, TAG: tag},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        finally:
            os.close(log)
        folder.event("uploads begun", attempt=attempt)

    def stop(self) -> None:
        """Ends it, with rclone."""
        Containment(self._tag, self._folder.path, look_only=True).terminate(0)

    def look(self) -> "Optional[RunUploaded]":
        """How it ended; None while it goes on."""
        status = self._process.poll()
        if status is None:
            return None
        known = read("run.upload", self._folder.attempt(self._attempt) / "upload.json")
        ended: RunUploaded = (
            known
            if known and known["status"] != "running"
            else {"status": "failed", "uploads": [], "why": "the upload of what the ranks left was killed"}
        )
        if status != 0 and ended["status"] == "done":
            ended = {**ended, "status": "failed", "why": "the upload was killed"}
        self._folder.event(
            "uploads ended", attempt=self._attempt, status=ended["status"], why=ended["why"], uploads=ended["uploads"]
        )
        return ended
