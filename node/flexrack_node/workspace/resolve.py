"""Which versions an environment has or would get, so that other nodes get the same, or a lock file."""

import re
from typing import TYPE_CHECKING, Any, Dict

from flexrack_node.base.channel import Channel
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.program_wheel import machine
from flexrack_node.workspace import environment, environment_content, pythons, uv
from flexrack_node.workspace.build import find_uv, installed_python
from flexrack_node.workspace.uv_builder import UvBuilder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ResolveWanted


def resolve(request: "ResolveWanted", channel: Channel) -> Dict[str, Any]:
    """{requirements, constraints?, python?, uv, universal?} -> {pins}, or {missing, machine}: uv is to be sent first."""
    environment.download(request)
    facts = pythons.find(request.get("python"), channel)
    requirements, constraints, order = (
        request.get("requirements") or "",
        request.get("constraints") or "",
        request["uv"],
    )
    name = environment_content.content_hash(
        requirements, constraints, facts, environment_content.project_parts(request.get("project"), channel)
    )
    folder = channel.environments / name
    universal = request.get("universal")
    if not universal and environment.is_ready(folder):
        return {"pins": environment_content.installed(folder)}
    if "without" not in order and machine() and not uv.find(order, channel, facts):
        return {"missing": "uv", "machine": machine()}
    environment.make_folder(channel, folder.parent)
    with FileLock(folder.parent / ".locks" / name, channel, f"build of environment {name}"):
        if not universal and environment.is_ready(folder):
            return {"pins": environment_content.installed(folder)}
        program = find_uv(order, channel, facts)
        if program is None and not facts.get("absent"):
            return {"pins": None}
        facts = installed_python(program, folder, facts, channel)
        assert program is not None
        words = ["--universal", "--generate-hashes", "--python-version", universal] if universal else []
        text = UvBuilder(program, folder, facts["executable"], channel).resolve(requirements, constraints, words)
    return {
        "pins": text
        if universal
        else "".join(f"{line}\n" for line in text.splitlines() if re.fullmatch(r"[A-Za-z0-9._-]+==\S+", line))
    }
