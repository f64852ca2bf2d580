"""The staging folder of a sync: contents that come, each a file by its digest, until all are there and checked. Nothing
of it is in the code folder yet.
"""

import os
import re
import shutil
import zlib
from typing import Any, Iterator, List

from flexrack_node.base.errors import NodeError
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.tree import DIGEST_DIGITS, digest_of

CHUNK = 1 << 18
MARGIN_BYTES = 16 << 20


def verify_staged(place: WorkspaceFolder) -> List[str]:
    """Contents that came whole before an earlier sync was cut short: they need not come again."""
    staged = []
    for file in place.staging.glob("*") if place.staging.is_dir() else []:
        with open(file, "rb") as stream:
            if digest_of(stream) == file.name:
                staged.append(file.name)
    return staged


def receive(place: WorkspaceFolder, send: List[List[Any]], body: "Reader") -> None:
    """Writes what comes into the staging folder, one file a content, checked against its name."""
    needed = sum(size for _digest, size in send)
    free = shutil.disk_usage(place.staging).free
    if needed + MARGIN_BYTES > free:
        raise NodeError(
            "NODE_UNFIT",
            f"the code needs {needed} bytes and the disk below {place.path} has {free} free",
            "flexrack workspace remove --environments",
            needed_bytes=needed,
            free_bytes=free,
        )
    for digest, size in send:
        if not re.fullmatch(f"[0-9a-f]{{{DIGEST_DIGITS}}}", digest):
            raise NodeError("BUG", f"not a digest: {digest!r}")
        part = place.staging / f"{digest}.part"
        try:
            with open(part, "wb") as stream:
                for data in body.take(size):
                    stream.write(data)
            with open(part, "rb") as stream:
                if digest_of(stream) != digest:
                    raise NodeError("CONFLICT", "a file changed while it was being sent", None, retry=True)
            os.replace(part, place.staging / digest)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


class Reader:
    """Gives exactly as many bytes as asked from chunks of any size."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self.chunks, self.rest = chunks, b""

    def take(self, size: int) -> Iterator[bytes]:
        while size > 0:
            if not self.rest:
                self.rest = next(self.chunks, b"")
                if not self.rest:
                    raise NodeError("INTERRUPTED", "the connection ended before all files had come")
            data, self.rest = self.rest[:size], self.rest[size:]
            size -= len(data)
            yield data


def read_all(body: Any) -> Reader:
    return Reader(iter(lambda: body.read1(CHUNK), b""))


def unpack(body: Any) -> Reader:
    def chunks() -> Iterator[bytes]:
        inflate = zlib.decompressobj()
        for data in iter(lambda: body.read1(CHUNK), b""):
            plain = inflate.decompress(data)
            if plain:
                yield plain

    return Reader(chunks())
