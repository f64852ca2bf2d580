"""Puts a program of ours on this node: the bytes that follow the input, checked, whole or not at all."""

import os
from pathlib import Path
from typing import Any, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError

PIECE_BYTES = 1024 * 1024


def receive(given: Mapping[str, Any], channel: Channel, folder: Path) -> Path:
    """{name, sha256, executable}: writes folder/name. Errors: NODE_UNREACHABLE where it arrived damaged, NODE_UNFIT."""

    import hashlib

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = folder / Path(given["name"]).name
    part = folder / f".part-{os.getpid()}"
    digest = hashlib.sha256()
    try:
        with open(part, "xb") as file:
            for piece in iter(lambda: channel.body.read(PIECE_BYTES), b""):
                digest.update(piece)
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        if digest.hexdigest() != given["sha256"]:
            raise NodeError("NODE_UNREACHABLE", f"{target.name} arrived damaged", "run the command again")
        part.chmod(0o700 if given.get("executable") else 0o600)
        os.replace(part, target)
    except OSError as error:
        raise NodeError("NODE_UNFIT", f"{target} cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return target
