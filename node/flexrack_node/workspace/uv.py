"""The uv that builds environments here: one that is there and new enough, one that was sent, or one from this node's
own package index.

    <environments>/.uv/         0700
      bin/uv-<version>-<machine>     checked against the lock that came with the order
      cache/                         uv's; beside the environments, so that it can give them its files as hard links
      pythons/                       interpreters that uv has installed
"""

import http.client
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple, Union

from flexrack_node.base import program_file, program_wheel
from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import need_room
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.workspace import fetch_uv

if TYPE_CHECKING:
    from flexrack_node.schema.environment import UvOrder, UvPlaced, UvWheel

UNPACKED_BYTES = 50_000_000
FETCH_SECONDS = 300


def folder_of(channel: Channel) -> Path:
    return channel.environments / ".uv"


def make_folder(channel: Channel) -> Path:
    folder = folder_of(channel)
    record(channel.root, folder, "environment tools")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def is_needed(requirements: str, facts: Mapping[str, Any]) -> bool:
    """An environment without packages is made by Python alone, where it can."""
    return (
        not facts["venv"]
        or bool(facts.get("absent"))
        or any(line.strip() and not line.lstrip().startswith("#") for line in requirements.splitlines())
    )


def find(order: "UvOrder", channel: Channel, facts: Mapping[str, Any]) -> Optional[Path]:
    """The one that was sent, else one of this machine that is new enough; where a Python is to be installed the pinned
    one, which knows the same as on other nodes.
    """
    sent = place_of(order["version"], folder_of(channel))
    if os.access(sent, os.X_OK):
        return sent
    if facts.get("absent"):
        return None
    for place in (shutil.which("uv"), os.path.expanduser("~/.local/bin/uv"), os.path.expanduser("~/.cargo/bin/uv")):
        if place and os.access(place, os.X_OK) and version_of(place) >= numbers(order["oldest"]):
            return Path(place)
    return None


def place_of(version: str, folder: Path) -> Path:
    return folder / "bin" / f"uv-{Path(version).name}-{program_wheel.machine()}"


def numbers(version: str) -> List[int]:
    return [int(one) for one in re.findall(r"\d+", version)]


def version_of(program: str) -> List[int]:
    try:
        shown = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    found = re.match(r"uv (\d+\.\d+\.\d+)", shown.stdout)
    return numbers(found.group(1)) if shown.returncode == 0 and found else []


def place(given: "UvWheel", channel: Channel) -> "UvPlaced":
    """{version, lock, name, sha256} and the wheel's bytes, or {proxy} for them: unpacks uv, whole or not at all."""
    folder = make_folder(channel)
    need_room(folder, UNPACKED_BYTES, "uv")
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as temp:
        wheel = (
            through(given["proxy"], given, Path(temp))
            if "proxy" in given
            else program_file.receive(given, channel, Path(temp))
        )
        return {"path": str(unpack(wheel, given, folder))}


def through(proxy: str, given: "UvWheel", temp: Path) -> Path:
    """The wheel from where the node's own proxy (workspace/package_proxy.py) gets it. Errors: NODE_UNREACHABLE."""
    import urllib.request

    from flexrack_node.workspace import mirror

    for key in [key for key in os.environ if key.lower() == "no_proxy"]:  # of this call alone
        del os.environ[key]
    wheel = temp / Path(given["name"]).name
    try:
        with (
            urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy})).open(
                mirror.of_caller(f"uv/{given['name']}", given["sha256"])
            ) as source,
            open(wheel, "xb") as file,
        ):
            shutil.copyfileobj(source, file, 1 << 20)
    except (OSError, http.client.HTTPException) as error:
        raise NodeError(
            "NODE_UNREACHABLE", f"{wheel.name} did not come by way of the other nodes: {error}", "run the command again"
        ) from error
    return wheel


def fetch(order: "UvOrder", folder: Path) -> Tuple[Optional[Path], str]:
    """From the package index of this machine, below `folder`. None and a sentence where that gives none."""
    name = program_wheel.machine()
    if name is None:
        return None, f"there is no uv for {sys.platform} on {platform.machine()}"
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as temp:
        words = [sys.executable, "-I", fetch_uv.__file__, temp, name]
        try:
            done = subprocess.run(
                words,
                input=order["lock"].encode(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                timeout=FETCH_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return None, f"pip here did not get it within {FETCH_SECONDS} s"
        wheels = sorted(Path(temp).glob("uv-*.whl"))
        if done.returncode != 0 or not wheels:
            lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
            return None, f"pip here could not fetch it ({lines[-1] if lines else f'status {done.returncode}'})"
        return unpack(wheels[0], order, folder), ""


def unpack(wheel: Path, given: "Union[UvOrder, UvWheel]", folder: Path) -> Path:
    """Errors: NODE_UNREACHABLE for another wheel than the lock says."""
    program_wheel.need_locked(wheel, given["lock"])
    target = place_of(given["version"], folder)
    target.parent.mkdir(mode=0o700, exist_ok=True)
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        with zipfile.ZipFile(wheel) as archive, open(part, "xb") as file:
            name = next(one for one in archive.namelist() if re.fullmatch(r"uv-[^/]+\.data/scripts/uv", one))
            with archive.open(name) as source:
                shutil.copyfileobj(source, file, 1 << 20)
            file.flush()
            os.fsync(file.fileno())
        part.chmod(0o700)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
    return target


def shrink(channel: Channel) -> None:
    """Takes packages from the cache of which no environment has hard links; uv itself does it, and gets what it misses
    anew. Not while uv is at work there.
    """
    folder = folder_of(channel)
    program = next(iter(sorted((folder / "bin").glob("uv-*"), reverse=True)), None) or shutil.which("uv")
    names = sorted(
        {
            name
            for archive in (folder / "cache").glob("archive-v*/*")
            if not _is_linked(archive)
            for name in _packages(archive)
        }
    )
    if program and names:
        env = {**os.environ, "UV_CACHE_DIR": str(folder / "cache"), "UV_LOCK_TIMEOUT": "5", "UV_NO_CONFIG": "1"}
        subprocess.run(
            [str(program), "cache", "clean", *names],
            env=env,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _is_linked(archive: Path) -> bool:
    found = (path.lstat() for path in archive.rglob("*"))
    return any(stat.S_ISREG(one.st_mode) and one.st_nlink > 1 for one in found)


def _packages(archive: Path) -> List[str]:
    return [path.name.split("-")[0].replace("_", "-") for path in archive.glob("*.dist-info")]
