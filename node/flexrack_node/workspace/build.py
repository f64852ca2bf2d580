"""Fills an environment's folder, with uv or with pip, and publishes it; whatever goes wrong, nothing is left of it."""

import os
import re
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.workspace.folder import project_folder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ProjectToInstall, UvOrder

READY = ".flexrack-ready.json"


def build(
    folder: Path,
    requirements: str,
    constraints: str,
    facts: Dict[str, Any],
    channel: Channel,
    order: "Optional[UvOrder]" = None,
    project: "Optional[ProjectToInstall]" = None,
) -> Dict[str, Any]:
    """Builds in place and publishes; whatever goes wrong, no half environment is left. Called with the lock held. Gives
    what the Python is.
    """
    # only here: whoever only looks at environments starts without TLS, pip's settings and archives
    from flexrack_node.workspace import uv
    from flexrack_node.workspace.pip import PipBuilder
    from flexrack_node.workspace.uv_builder import UvBuilder

    code = (project["name"], project_folder(project, channel.root)) if project else None
    lines = significant_lines(requirements)
    program = find_uv(order, channel, facts, bool(project) or uv.is_needed(requirements, facts)) if order else None
    if program is None and not facts["venv"]:
        version = ".".join(facts["version"].split(".")[:2])
        raise NodeError(
            "NODE_UNFIT",
            f"Python {version} on this node cannot make virtual environments: ensurepip is missing",
            f"sudo apt-get install -y python{version}-venv",
            missing="ensurepip",
        )
    with published(folder, lines) as told:
        facts = installed_python(program, folder, facts, channel)
        if program:
            UvBuilder(program, folder, facts["executable"], channel).run(
                "\n".join(lines) and requirements, constraints, code
            )
        else:
            PipBuilder(folder, facts["executable"], channel).run(
                requirements, constraints, with_pip=bool(lines or code), project=code
            )
        told.update(
            {"python": facts["version"], "platform": facts["platform"], "by": program.name if program else "pip"}
        )
    return facts


@contextmanager
def published(folder: Path, lines: List[str]) -> Iterator[Dict[str, Any]]:
    """Builds in place: what goes wrong leaves nothing. At the end the environment is there, with what it says of
    itself; what is particular to it comes by the dictionary.
    """
    discard(folder)
    started = time.time()
    told: Dict[str, Any] = {}
    try:
        yield told
        ready: Any = {
            "hash": folder.name,
            "requirements": [line.rstrip(" \\") for line in lines if not line.lstrip().startswith("--hash=")],
            "built_at": int(time.time()),
            "seconds": round(time.time() - started, 1),
            "node": os.environ.get("FLEXRACK_NODE"),
            **told,
        }
        write("environment.ready", folder / READY, ready)
    except OSError as error:
        discard(folder)
        raise unfit_disk(error, folder.parent) or error from None
    except BaseException:
        discard(folder)
        raise


def installed_python(program: Optional[Path], folder: Path, facts: Dict[str, Any], channel: Channel) -> Dict[str, Any]:
    """The same Python, once it is there. `folder`: of the environment that needs it."""
    if not facts.get("absent"):
        return facts
    from flexrack_node.base import interpreter
    from flexrack_node.workspace import pythons
    from flexrack_node.workspace.uv_builder import UvBuilder

    version = facts["managed"]
    if program is None:
        raise NodeError(
            "NODE_UNFIT",
            f"there is no python{version} on this node, and no uv, which would install one",
            "install it there beside its own, or choose another version in workspace.python",
            python=version,
        )
    UvBuilder(program, folder, "", channel).install_python(version)
    found = pythons.of_flexrack(version, interpreter.facts(), channel)
    if found is None:
        raise NodeError(
            "NODE_UNFIT", f"uv installed Python {version}, and there is none that runs", None, python=version
        )
    pythons.facts_of(found["executable"], version)
    return found


def find_uv(order: "UvOrder", channel: Channel, facts: Dict[str, Any], needed: bool = True) -> Optional[Path]:
    """One that is here, or that this node gets by itself; else None, and why is told."""
    from flexrack_node.workspace import uv

    program = uv.find(order, channel, facts)
    if program or not needed:
        return program
    channel.event("progress", detail="fetching uv from the package index")
    try:
        program, reason = uv.fetch(order, uv.make_folder(channel))
    except OSError as error:
        full = unfit_disk(error, channel.environments)
        if full:
            raise full from None
        reason = f"{error.filename}: {error.strerror}"
    if program is None and not facts.get("absent"):
        reasons = [one for one in (order.get("without"), reason) if one]
        channel.event("warning", text=f"built with pip, which takes longer: {'; '.join(reasons)}")
    return program


def discard(folder: Path) -> None:
    """Removes an environment: unpublished first, so that it is never taken for a whole one."""
    for temp in folder.parent.glob(f".{folder.name}-*"):  # of a builder that was killed
        shutil.rmtree(temp, ignore_errors=True)
    if not os.path.lexists(folder):
        return
    try:
        (folder / READY).unlink()
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    if os.path.lexists(folder):  # files of another user, or busy on NFS
        raise NodeError("NODE_UNFIT", f"cannot remove {folder}", f"rm -rf {folder}")


def significant_lines(text: str) -> List[str]:
    """The lines that mean something to pip: no comments, no blank lines, no trailing space."""
    lines = (re.sub(r"(^|\s+)#.*$", "", line).rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    return [line for line in lines if line.strip()]
