"""Whether what is about to be written fits, as far as that can be known beforehand; and what a full disk is called."""

import shutil
from pathlib import Path
from typing import Iterable, Optional

from flexrack_node.base.errors import NodeError

DISK_FULL = (28, 122)  # ENOSPC, EDQUOT
_WAY_OUT = "flexrack workspace remove --environments"


def need_room(folder: Path, size: int, what: str) -> None:
    """Raises NODE_UNFIT where `size` bytes more do not fit below `folder`. A quota may be smaller than what is seen to
    be free.
    """
    free = free_bytes(folder)
    if free is not None and size > free:
        raise NodeError(
            "NODE_UNFIT",
            f"{what} needs {in_words(size)} below {folder}, and {in_words(free)} are free",
            _WAY_OUT,
            free_bytes=free,
            needed_bytes=size,
        )


def unpacked_size(wheels: Iterable[Path]) -> int:
    """Bytes of all files in them (zip's central directory, without reading the rest); what cannot be read counts as
    nothing.
    """
    import zipfile  # only here: it takes longer to import than most verbs

    size = 0
    for wheel in wheels:
        try:
            with zipfile.ZipFile(wheel) as archive:
                size += sum(one.file_size for one in archive.infolist())
        except (OSError, zipfile.BadZipFile):
            continue
    return size


def unfit_disk(error: OSError, folder: Path) -> Optional[NodeError]:
    """NODE_UNFIT if the error is a full disk or quota, else None."""
    if error.errno not in DISK_FULL:
        return None
    return NodeError(
        "NODE_UNFIT", f"no space left on this node below {folder}", _WAY_OUT, free_bytes=free_bytes(folder)
    )


def free_bytes(folder: Path) -> Optional[int]:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def in_words(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"
