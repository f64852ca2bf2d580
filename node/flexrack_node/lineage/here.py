"""A node as a run finds it: what may make the same code give other numbers."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from flexrack_node.base.stored import or_nothing
from flexrack_node.base.sysfs import cpu_model, read

if TYPE_CHECKING:
    from flexrack_node.schema.record import NodeHere
    from flexrack_node.schema.runfiles import KeptRunOrder

_DRIVER = Path("/sys/module/nvidia/version")


def here(spec: "KeptRunOrder") -> "NodeHere":
    """Reads files alone: it starts nothing, and asks no driver."""
    system = os.uname()
    gpus = [gpu for rank in spec.get("placed", []) for gpu in [*rank["gpus"], *rank.get("leased", [])]]
    found: NodeHere = {
        "node": spec["node"],
        "code": or_nothing(spec.get("code")).get("digest"),
        "kernel": system.release,
        "machine": system.machine,
        "python": python_version(Path(spec["python"])),
        "cpu": cpu_model(),
        "cpus": os.cpu_count() or 1,
        "driver": read(_DRIVER) or None,
    }
    if gpus:
        found["gpus"] = gpus
    return found


def python_version(python: Path) -> Optional[str]:
    """Of a virtual environment: pyvenv.cfg has it (PEP 405; uv writes `version_info`). None elsewhere."""
    try:
        text = (python.parent.parent / "pyvenv.cfg").read_text(errors="replace")
    except OSError:
        return None
    found = re.search(r"^version(?:_info)?\s*=\s*(\d+(?:\.\d+)+)", text, re.MULTILINE)
    return found.group(1) if found else None
