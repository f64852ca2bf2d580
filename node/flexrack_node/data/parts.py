"""Contents on their way to this node. What of one has come when the line is cut stays, and the next push goes on there:

<root>/data/parts/<sha256>    the beginning of a content, 0600, until it is whole
"""

import hashlib
import os
import stat
from pathlib import Path
from typing import Callable

from flexrack_node.base.disk_room import unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.data.store import Store
from flexrack_node.workspace.staging import CHUNK, Reader


def here(store: Store, digest: str) -> int:
    """Bytes of a content that have come."""
    try:
        found = os.lstat(store.parts / digest)
    except FileNotFoundError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def take(
    store: Store,
    reader: Reader,
    digest: str,
    executable: bool,
    size: int,
    before: int,
    tell: Callable[[int], None],
) -> None:
    """The reader has the content from its byte `before` on; `tell` is told how much of that is here. Under the lock.
    Errors: CONFLICT (with `retry` where what came before is to blame), NODE_UNFIT, those of the reader.
    """
    target = store.blob(digest, executable)
    target.parent.mkdir(mode=0o700, exist_ok=True)
    part = store.parts / digest
    try:
        _write(part, reader, digest, size, before, tell)
        os.chmod(part, 0o555 if executable else 0o444)
        os.replace(part, target)
    except (ConnectionError, TimeoutError):
        raise  # of the reader
    except OSError as error:
        part.unlink(missing_ok=True)
        raise unfit_disk(error, store.path) or error from error


def _write(part: Path, reader: Reader, digest: str, size: int, before: int, tell: Callable[[int], None]) -> None:
    sha = hashlib.sha256()
    with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "r+b") as stream:
        if not 0 <= before <= min(os.fstat(stream.fileno()).st_size, size):
            raise NodeError(
                "CONFLICT", "what came of a content is not here any more", "run the command again", retry=True
            )
        stream.truncate(before)
        for data in iter(lambda: stream.read(CHUNK), b""):
            sha.update(data)
        come = 0
        for data in reader.take(size - before):
            sha.update(data)
            stream.write(data)
            come += len(data)
            tell(come)
    if sha.hexdigest() != digest:
        part.unlink()
        if before:
            raise NodeError(
                "CONFLICT", f"what came of {digest[:12]} before is damaged", "run the command again", retry=True
            )
        raise NodeError(
            "CONFLICT",
            f"a content is not {digest[:12]}, as which it was sent: the store of the sender is damaged",
            "flexrack data verify NAME",
        )
