"""Files and ports of endpoints on this node: endpoint.check, .place, .ports, .write, .prune.

endpoints/<name>/<release>/model/...        the model version's files, once a node
endpoints/<name>/<release>/replica-<n>/...  what one server is started in
"""

import errno
import hashlib
import os
import random
import re
import shutil
import socket
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, List, Mapping, Set

from flexrack_node.base.channel import Channel
from flexrack_node.base.content_hash import file_sha256
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.service.record import ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.schema.endpoint import (
        FolderMade,
        PortsWanted,
        ReleaseFiles,
        ReleaseFound,
        ReleasesKept,
        ReplicaFiles,
    )

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Below the ports that the kernel gives to outgoing connections, so that a server finds its port free when it restarts.
PORTS = range(18000, 32000)
CHUNK = 1024 * 1024


def check(given: "ReleaseFiles", channel: Channel) -> "ReleaseFound":
    """{name, release, files: [{path, bytes, sha256}]}: is all of it there, whole? -> {complete, folder}"""
    folder = release_folder(channel.root, given) / "model"
    complete = all(matches(folder / relative(file["path"]), file) for file in given["files"]) and bool(given["files"])
    return {"complete": complete, "folder": str(folder)}


def place(given: "ReleaseFiles", channel: Channel) -> "FolderMade":
    """{name, release, files}, and the files' bytes one after the other as the body: all of them, or none, appear."""
    release = release_folder(channel.root, given)
    record(channel.root, release.parent, "endpoint")
    release.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = release / f".model.{os.getpid()}"
    try:
        for file in given["files"]:
            receive(part / relative(file["path"]), file, channel)
        shutil.rmtree(release / "model", ignore_errors=True)
        os.rename(part, release / "model")
    except OSError as error:
        raise NodeError("NODE_UNFIT", f"the model cannot be written to {release}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return {"folder": str(release / "model")}


def ports(given: "PortsWanted", channel: Channel) -> "List[int]":
    """{count, host, exclude}: ports of that address that nobody listens on, nor will when a service is started here."""
    excluded = {*(given.get("exclude") or []), *ports_of_services(channel.root)}
    found: List[int] = []
    for port in random.sample(PORTS, len(PORTS)):
        if port not in excluded and is_free(given["host"], port):
            found.append(port)
            if len(found) == int(given["count"]):
                return found
    raise NodeError("NODE_UNFIT", f"no free port between {PORTS.start} and {PORTS.stop} on {given['host']}")


def write(given: "ReplicaFiles", channel: Channel) -> "FolderMade":
    """{name, release, replica, files: {name: text}}: the folder a server is started in, made anew."""
    folder = release_folder(channel.root, given) / f"replica-{int(given['replica'])}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    for name, text in given["files"].items():
        (folder / relative(name)).write_text(text)
    return {"folder": str(folder)}


def prune(given: "ReleasesKept", channel: Channel) -> "List[str]":
    """{name, keep: [release]}: removes the folders of all other releases; with nothing to keep, the endpoint's too."""
    folder = channel.root / "endpoints" / name_of(given["name"])
    if not folder.is_dir():
        return []
    removed = sorted(entry.name for entry in folder.iterdir() if entry.name not in given["keep"])
    for name in removed:
        shutil.rmtree(folder / name, ignore_errors=True)
    if not given["keep"]:
        shutil.rmtree(folder, ignore_errors=True)
    return removed


def ports_of_services(root: Path) -> "Set[int]":
    """Where services listen that may be asleep now."""
    found: Set[int] = set()
    for path in (root / "services").glob("*/spec.json"):
        found.update(ServiceRecord(root, path.parent.name).spec().get("ports", []))
    return found


def receive(target: Path, file: Mapping[str, Any], channel: Channel) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    left, digest = int(file["bytes"]), hashlib.sha256()
    with open(target, "wb") as stream:
        while left > 0:
            data = channel.body.read(min(CHUNK, left))
            if not data:
                raise NodeError("REMOTE_FAILED", f"the transfer of {file['path']} ended {left} bytes early")
            stream.write(data)
            digest.update(data)
            left -= len(data)
        stream.flush()
        os.fsync(stream.fileno())
    if digest.hexdigest() != file["sha256"]:
        raise NodeError("REMOTE_FAILED", f"{file['path']} arrived with another checksum than it was sent with")


def matches(path: Path, file: Mapping[str, Any]) -> bool:
    try:
        if path.stat().st_size != int(file["bytes"]):
            return False
        return bool(file_sha256(path) == file["sha256"])
    except OSError:
        return False


def is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: TIME_WAIT is no hindrance
        try:
            probe.bind((host, port))
            return True
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:  # not a matter of the port
                raise NodeError(
                    "NODE_UNFIT", f"{host} is not an address of this node", "correct `address` in the rack file"
                ) from error
            return False


def release_folder(root: Path, given: Mapping[str, Any]) -> Path:
    return root / "endpoints" / name_of(given["name"]) / name_of(given["release"])


def name_of(text: str) -> str:
    if not NAME.fullmatch(text):
        raise NodeError("USAGE", f"{text!r} cannot be the name of a folder")
    return text


def relative(text: str) -> PurePosixPath:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise NodeError("USAGE", f"{text!r} is not a path inside the folder")
    return path
