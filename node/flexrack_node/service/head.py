"""The head's files on its node: head.inspect, .place, .configure, .follow, .tidy, .access.

head/  program/{head-service-<hash>.mjs,node-<hash>}  config-<hash>.json  admin-token  listener.json  mlflow.db  artifacts/  endpoints/
"""

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base import program_file, stored
from flexrack_node.base.channel import Channel
from flexrack_node.base.installed import record
from flexrack_node.service import comeback

if TYPE_CHECKING:
    from flexrack_node.schema.head import (
        FilePlaced,
        FilesRemoved,
        HeadAccess,
        HeadConfigured,
        HeadFollowToken,
        HeadKept,
        HeadNode,
        HeadQuestion,
        NodeProgramFound,
        ProgramFile,
    )
    from flexrack_node.schema.node import Nothing

USUAL_PLACES = ("/usr/local/bin/node", "/usr/bin/node", "/opt/homebrew/bin/node")


def inspect(given: "HeadQuestion", channel: Channel) -> "HeadNode":
    """{nodes, oldest: [major, minor], programs}: what is there of a head, and a Node that is new enough.

    `nodes` are paths on the caller's machine, which may be this one; `programs` names of files that would be placed.
    """

    import platform

    folder = channel.root / "head"
    libc = platform.libc_ver()[0] or "other"
    return {
        "folder": str(folder),
        "system": platform.system().lower(),
        "machine": platform.machine(),
        "libc": libc,
        "node": find_node(
            [*given.get("nodes", []), *map(str, sorted((folder / "program").glob("node-*")))], given["oldest"]
        ),
        "placed": [name for name in given.get("programs", []) if (folder / "program" / name).exists()],
        "memory_free": memory_free(),
        "comes_back": comeback.look(channel.root),
    }


def place(given: "ProgramFile", channel: Channel) -> "FilePlaced":
    """{name, sha256, executable} and the file's bytes: puts a program file there, whole or not at all."""
    record(channel.root, channel.root / "head", "head")
    target = program_file.receive(given, channel, channel.root / "head" / "program")
    return {"path": str(target)}


def configure(given: "HeadConfigured", channel: Channel) -> "FilePlaced":
    """{config}: writes config-<hash>.json; the same content is the same file."""

    import hashlib

    record(channel.root, channel.root / "head", "head")
    folder = channel.root / "head"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    text = json.dumps(
        stored.stamped("head.config", {**given["config"], "folder": str(folder)}), indent=1, sort_keys=True
    )
    path = folder / f"config-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    if not path.exists():
        stored.replace_file(path, text)
    return {"path": str(path)}


def follow(given: "HeadFollowToken", channel: Channel) -> "Nothing":
    """{token, ca}: keeps with what a standby follows its head, and what is trusted at both (PEM)."""
    folder = channel.root / "head"
    record(channel.root, folder, "head")
    (folder / "tls").mkdir(parents=True, exist_ok=True, mode=0o700)
    stored.replace_file(folder / "tls" / "ca.pem", given["ca"])
    stored.replace_file(folder / "follow-token", given["token"] + "\n")
    return {}


def tidy(given: "HeadKept", channel: Channel) -> "FilesRemoved":
    """{keep: [paths]}: removes older programs and configurations, once the new ones run."""
    folder, keep = channel.root / "head", set(given["keep"])
    old = [
        path for path in [*folder.glob("config-*.json"), *(folder / "program").glob("[hn]*")] if str(path) not in keep
    ]
    for path in old:
        path.unlink(missing_ok=True)
    return {"removed": [str(path) for path in old]}


def access(given: "Nothing", channel: Channel) -> "HeadAccess":
    """Where the head listens, the admin token, and the certificates to trust there (PEM), for who may log in here
    anyway: {listener, token, ca, follows, quotas}, null where there is none. `follows` is the id of a standby's token;
    `quotas`: the head is to be asked before a run takes anything.
    """
    folder = channel.root / "head"
    token = read(folder / "admin-token")
    listener = read(folder / "listener.json") or read(folder / "door.json")  # a head of the first schema runs
    shown = stored.current("head.listener", json.loads(listener), folder / "listener.json") if listener else None
    follow_token = (read(folder / "follow-token") or "").split(".")
    return {
        "listener": shown,
        "token": token.strip() if token else None,
        "ca": read(folder / "tls" / "ca.pem"),
        "follows": follow_token[1] if len(follow_token) == 3 else None,
        "quotas": (folder / "quotas.json").exists(),
    }


def find_node(places: List[str], oldest: List[int]) -> "Optional[NodeProgramFound]":
    """The first Node that runs here and is new enough: {path, version}."""

    import shutil

    found = shutil.which("node")
    for place_ in [*([found] if found else []), *USUAL_PLACES, *places]:
        if not os.access(place_, os.X_OK):
            continue
        try:
            reported = subprocess.run(
                [place_, "-p", "process.versions.node"],
                capture_output=True,
                text=True,
                timeout=20,
                stdin=subprocess.DEVNULL,
            )
            version = [int(part) for part in reported.stdout.strip().split(".")]
        except (OSError, ValueError, subprocess.TimeoutExpired):
            continue
        if reported.returncode == 0 and version[:2] >= oldest:
            return {"path": os.path.abspath(place_), "version": reported.stdout.strip()}
    return None


def memory_free() -> Optional[int]:
    """Bytes that may still be taken, or None where that is not told."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def read(path: Path) -> Optional[str]:
    try:
        return path.read_text()
    except FileNotFoundError:
        return None
