"""The SHA-256 of a file of any length."""

import hashlib
from pathlib import Path
from typing import BinaryIO

_PIECE_BYTES = 1 << 20


def sha256_of(stream: BinaryIO) -> str:
    """Of what is left to read, in hex digits."""
    sha = hashlib.sha256()
    for data in iter(lambda: stream.read(_PIECE_BYTES), b""):
        sha.update(data)
    return sha.hexdigest()


def file_sha256(path: Path) -> str:
    """Raises OSError."""
    with open(path, "rb") as file:
        return sha256_of(file)
