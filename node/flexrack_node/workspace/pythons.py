"""Which Python an environment is made from: one of this node, else one of flexrack's own, which uv installs beside its
cache.

A wish is a version (`3.12`), a range (`>=3.11,<3.13`, what a runtime or the head works with), a name or a path; none is
the Python that runs this. What a node has comes first. Python's micro version is the one that flexrack's pinned uv
knows, with the hash of its archive, so it is the same on all nodes that lack it.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from flexrack_node.base import interpreter
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError

NEWEST = 30  # minor versions that are looked for
SETTLED = 2  # above the lowest of a range without an end: what packages have had time to be made for


def find(wanted: Optional[str], channel: Channel, image: Optional[str] = None) -> Dict[str, Any]:
    """What it is, as an environment depends on it; with `managed` (its version) where it is flexrack's own, and
    `absent` where that is to be installed first.
    """
    if image:  # it has the rest; this is known before the image is here
        return {
            "version": wanted or "image",
            "tag": image,
            "platform": os.uname().machine,
            "libc": "",
            "executable": image,
        }
    own = interpreter.facts()
    if not wanted:
        return own
    if re.fullmatch(r"3\.\d+", wanted):
        return of_node(wanted) or of_flexrack(wanted, own, channel) or absent(wanted, own)
    limits = range_of(wanted)
    if limits is None:
        return asked(wanted)
    at_least, below = limits
    if at_least <= minor_of(own["version"]) < below:
        return own
    versions = [f"3.{minor}" for minor in range(min(below, at_least + NEWEST) - 1, at_least - 1, -1)]
    for version in versions:
        there = of_node(version)
        if there:
            return there
    for version in versions:
        ours = of_flexrack(version, own, channel)
        if ours:
            return ours
    return absent(versions[0] if below < at_least + NEWEST else f"3.{at_least + SETTLED}", own)


def range_of(wanted: str) -> Optional[Tuple[int, int]]:
    """`>=3.11,<3.13` -> (11, 13); without an upper end it is open."""
    found = re.fullmatch(r">=3\.(\d+)(?:,<3\.(\d+))?", wanted)
    return (int(found.group(1)), int(found.group(2) or int(found.group(1)) + NEWEST)) if found else None


def minor_of(version: str) -> int:
    return int(version.split(".")[1])


def asked(wanted: str) -> Dict[str, Any]:
    """By its name or path."""
    path = shutil.which(f"python{wanted}" if re.fullmatch(r"[0-9]+(\.[0-9]+)*", wanted) else os.path.expanduser(wanted))
    if not path:
        raise NodeError(
            "NODE_UNFIT",
            f"there is no {wanted} on this node",
            "install it there beside its own, or choose another version in workspace.python",
            python=wanted,
        )
    return facts_of(path, wanted)


def of_node(version: str) -> Optional[Dict[str, Any]]:
    path = shutil.which(f"python{version}")
    return facts_of(path, version) if path else None


def facts_of(path: str, wanted: str) -> Dict[str, Any]:
    shown = subprocess.run([path, "-I", interpreter.__file__], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if shown.returncode != 0:
        raise NodeError("NODE_UNFIT", f"{path} does not run", python=wanted, lines=shown.stderr.splitlines()[-5:])
    found: Dict[str, Any] = json.loads(shown.stdout)
    return found


def folder_of(channel: Channel) -> Path:
    return channel.environments / ".uv" / "pythons"


def of_flexrack(version: str, own: Dict[str, Any], channel: Channel) -> Optional[Dict[str, Any]]:
    """The newest of this version that uv has installed."""
    name = re.compile(
        re.escape(f"cpython-{version}.") + r"(\d+)-linux-" + re.escape(own["platform"].split("-", 1)[-1]) + "-"
    )
    found = [
        (int(there.group(1)), path)
        for path in folder_of(channel).glob(f"cpython-{version}.*")
        for there in [name.match(path.name)]
        if there
    ]
    for micro, path in sorted(found, reverse=True):
        program = path / "bin" / f"python{version}"
        if os.access(program, os.X_OK):
            return {
                **own,
                "executable": str(program),
                "version": f"{version}.{micro}",
                "tag": _tag(version),
                "venv": True,
                "managed": version,
            }
    return None


def absent(version: str, own: Dict[str, Any]) -> Dict[str, Any]:
    """What one will be that uv installs. As to the environment's hash it is the same as when it is there."""
    from flexrack_node.base import program_wheel

    if program_wheel.machine() is None:
        raise NodeError(
            "NODE_UNFIT",
            f"there is no python{version} on this node, and uv has none for it",
            "install it there beside its own, or choose another version in workspace.python",
            python=version,
        )
    return {
        **own,
        "executable": "",
        "version": version,
        "tag": _tag(version),
        "venv": True,
        "managed": version,
        "absent": True,
    }


def remove_unused(channel: Channel) -> List[str]:
    """Those of flexrack's own that no environment is made from, and nothing runs from."""
    used = {os.path.realpath(one / "bin" / "python") for one in channel.environments.glob("[0-9a-f]*")}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            used.add(os.readlink(process / "exe"))
        except OSError:
            pass  # it has ended, or is somebody else's
    gone = []
    for place in sorted(folder_of(channel).glob("cpython-*")):
        if place.is_symlink() or any(one.startswith(f"{os.path.realpath(place)}/") for one in used):
            continue
        shutil.rmtree(place, ignore_errors=True)
        gone.append(place.name)
    for link in folder_of(channel).glob("cpython-*"):  # of a version, to the newest of it
        if link.is_symlink() and not link.exists():
            link.unlink()
    return gone


def _tag(version: str) -> str:
    return f"cpython-{version.replace('.', '')}"
