"""What an environment is made from, as the hash that is its name, and what is in it."""

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.workspace.build import significant_lines
from flexrack_node.workspace.folder import project_folder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ProjectToInstall


def project_parts(project: "Optional[ProjectToInstall]", channel: Channel) -> List[str]:
    """What an environment depends on, in which a project is installed from its code folder here."""
    return [str(project_folder(project, channel.root)), project["digest"]] if project else []


def content_hash(requirements: str, constraints: str, facts: Dict[str, Any], project: List[str] = []) -> str:  # noqa: B006 (read only)
    """16 hex digits that change exactly when another environment would come out. Micro versions of Python share one."""
    major_minor = ".".join(facts["version"].split(".")[:2])
    # wherever flexrack's own lies, it is the same
    executable = f"flexrack {facts['managed']}" if facts.get("managed") else facts["executable"]
    parts = [
        1,
        significant_lines(requirements),
        significant_lines(constraints),
        major_minor,
        facts["tag"],
        facts["platform"],
        facts["libc"],
        executable,
        *project,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def installed(folder: Path) -> str:
    """The versions in it, by the names of the folders in which installers keep what they have installed."""
    found = (
        re.fullmatch(r"(.+)-([^-]+)\.dist-info", path.name)
        for path in sorted(folder.glob("lib/python*/site-packages/*.dist-info"))
    )
    return "".join(
        f"{one.group(1).replace('_', '-')}=={one.group(2)}\n"
        for one in found
        if one and one.group(1) not in ("pip", "setuptools")
    )
