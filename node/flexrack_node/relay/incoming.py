"""Bodies of calls to the relay: in memory, or a large one in a file of the spool."""

import itertools
from email.message import Message
from pathlib import Path
from typing import BinaryIO, Callable, Iterator, Optional

from flexrack_node.relay.journal import SpoolFull
from flexrack_node.run.upstream import Body

MEMORY_BYTES = 1024 * 1024
JSON_BYTES = 64 * 1024 * 1024
PIECE_BYTES = 256 * 1024


class TooLarge(Exception):
    """More bytes than a call may have."""


def read_body(stream: BinaryIO, headers: Message, scratch: Optional[Callable[[], Path]] = None) -> Body:
    """The body; with `scratch`, which names a new file, a large one is written there. Raises TooLarge, SpoolFull,
    OSError.
    """
    pieces, size = [], 0
    incoming = body_pieces(stream, headers)
    for piece in incoming:
        pieces.append(piece)
        size += len(piece)
        if size > MEMORY_BYTES and scratch:
            return _spool(scratch(), pieces, incoming)
        if size > JSON_BYTES:
            raise TooLarge(f"a call may have {JSON_BYTES} bytes")
    return b"".join(pieces)


def body_pieces(stream: BinaryIO, headers: Message) -> Iterator[bytes]:
    """What the client sends, as it comes. Raises OSError where it breaks off."""
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        while True:
            size = int(stream.readline().split(b";")[0], 16)
            left = size
            while left > 0:
                piece = _read_some(stream, left)
                left -= len(piece)
                yield piece
            stream.readline()
            if size == 0:
                return
    left = int(headers.get("Content-Length") or 0)
    while left > 0:
        piece = _read_some(stream, left)
        left -= len(piece)
        yield piece


def _spool(path: Path, pieces: "list[bytes]", incoming: Iterator[bytes]) -> Path:
    try:
        with open(path, "xb") as file:
            for piece in itertools.chain(pieces, incoming):
                _write_piece(file, piece)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, SpoolFull):
            # a client that is cut off in mid-body does not see the answer, and tries again for minutes
            for _ in incoming:
                pass
        raise
    return path


def _write_piece(file: BinaryIO, piece: bytes) -> None:
    """Raises SpoolFull where the disk does not take it, apart from OSErrors of the connection that it came from."""
    try:
        file.write(piece)
        file.flush()
    except OSError as error:
        raise SpoolFull(f"a large body cannot be kept on this node's disk: {error.strerror}") from error


def _read_some(stream: BinaryIO, most: int) -> bytes:
    piece = stream.read(min(most, PIECE_BYTES))
    if not piece:
        raise ConnectionResetError("the client went away in mid-call")
    return piece
