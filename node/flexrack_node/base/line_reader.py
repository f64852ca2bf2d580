"""What a caller says, line by line, for as long as it says anything."""

import os
import select
from typing import Iterator


def lines(fd: int, patience: float) -> Iterator[bytes]:
    """Lines of `fd`, without their ends, until it ends or nothing came for `patience` seconds: then nobody is there any
    more, whose link died without a word. What has no end of line when it ends is not told.
    """
    rest = b""
    while select.select([fd], [], [], patience)[0]:
        data = os.read(fd, 1 << 16)
        if not data:
            return
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
