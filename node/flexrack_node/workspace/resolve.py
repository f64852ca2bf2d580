"""Which versions an environment has or would get, so that other nodes get the same, or a lock file."""
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict

from flexrack_node.base.channel import Channel
from flexrack_node.base.filelock import FileLock
from flexrack_node.workspace import environment, uv
from flexrack_node.workspace.build import find_uv
from flexrack_node.workspace.uv_builder import UvBuilder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ResolveWanted


def resolve(request: "ResolveWanted", channel: Channel) -> Dict[str, Any]:
    """{requirements, constraints?, python?, uv, universal?} -> {pins}, or {missing, machine}: uv is to be sent first."""
    environment.download(request)
    facts = environment.python_facts(request.get("python"))
    requirements, constraints, order = request.get("requirements") or "", request.get("constraints") or "", request["uv"]
    name = environment.content_hash(requirements, constraints, facts)
    folder = channel.environments / name
    universal = request.get("universal")
    if not universal and environment.is_ready(folder):
        return {"pins": installed(folder)}
    if "without" not in order and uv.machine() and not uv.find(order, channel):
        return {"missing": "uv", "machine": uv.machine()}
    environment.make_folder(channel, folder.parent)
    with FileLock(folder.parent / ".locks" / name, channel, f"build of environment {name}"):
        if not universal and environment.is_ready(folder):
            return {"pins": installed(folder)}
        program = find_uv(order, channel, True)
        if program is None:
            return {"pins": None}
        words = ["--universal", "--generate-hashes", "--python-version", universal] if universal else []
        text = UvBuilder(program, folder, facts["executable"], channel).resolve(requirements, constraints, words)
    return {"pins": text if universal else "".join(f"{line}\n" for line in text.splitlines() if re.fullmatch(r"[A-Za-z0-9._-]+==\S+", line))}


def installed(folder: Path) -> str:
    """By the names of the folders in which installers keep what they have installed."""
    found = (re.fullmatch(r"(.+)-([^-]+)\.dist-info", path.name) for path in sorted(folder.glob("lib/python*/site-packages/*.dist-info")))
    return "".join(f"{one.group(1).replace('_', '-')}=={one.group(2)}\n" for one in found if one and one.group(1) not in ("pip", "setuptools"))
