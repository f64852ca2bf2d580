"""Programs that come to nodes in wheels: for which platform, and only those that flexrack's lock knows."""

import hashlib
import platform
import re
import sys
from pathlib import Path
from typing import Optional

from flexrack_node.base.errors import NodeError


def machine() -> Optional[str]:
    """This platform as wheels name it (x86_64, aarch64); None where there are none for it."""
    found = platform.machine().lower()
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(found, found)
    return name if sys.platform == "linux" and name in ("x86_64", "aarch64") else None


def need_locked(wheel: Path, lock: str) -> None:
    """Only a file whose hash is in the lock is ever run. Errors: NODE_UNREACHABLE."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if f"sha256:{digest}" not in re.findall(r"--hash=(\S+)", lock):
        raise NodeError(
            "NODE_UNREACHABLE", f"{wheel.name} has another content than flexrack's lock says", "run the command again"
        )
