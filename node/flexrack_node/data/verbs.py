"""data.list, .missing, .receive, .verify, .remove."""

import functools
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Set, Union

from flexrack_node.base.channel import Channel
from flexrack_node.base.content_hash import sha256_of
from flexrack_node.base.errors import NodeError
from flexrack_node.data import parts
from flexrack_node.data.store import Store, check_digest, check_path, digest_of
from flexrack_node.workspace.staging import read_all

if TYPE_CHECKING:
    from flexrack_node.schema.data import (
        DataDigest,
        DataFetch,
        DataHere,
        DataManifest,
        DataMissing,
        DataOrder,
        DataReceived,
        DataRemoved,
        DataVerified,
        DataVerify,
    )

MARGIN_BYTES = 64 << 20
# for which a push that was cut may go on where it was, while there is room
LEFT_SECONDS = 7 * 86400.0


def listing(request: "Optional[DataDigest]", channel: Channel) -> "DataHere":
    """{digest?} -> {versions: [{name, digest, files, bytes, used, runs}], bytes}: what is whole here; of one version,
    where it is named, and then without the bytes of all.
    """
    store = Store(channel.root)
    wanted, claim = (request or {}).get("digest"), (request or {}).get("claim")
    if wanted and claim and store.version(wanted).is_dir():
        with store.lock(channel):
            if store.manifest(wanted):
                store.claim(wanted, claim)
    found = [store.manifest(wanted)] if wanted else store.whole()
    pins = store.pins()
    return {
        "versions": [
            {
                "name": one["name"],
                "digest": one["digest"],
                "files": len(one["files"]),
                "bytes": one["bytes"],
                "used": store.used(one["digest"]),
                "runs": pins.get(one["digest"], []),
            }
            for one in found
            if one
        ],
        "bytes": 0 if wanted else store.bytes(),
    }


def missing(request: "DataManifest", channel: Channel) -> "DataMissing":
    """The contents of a version that are not here: {missing: [[digest, executable, bytes of it that have come]]}."""
    store = Store(channel.root)
    check(request)
    files: Any = request["files"]
    wanted = {(digest, executable): None for _path, executable, _size, digest in files}
    lacking = [one for one in wanted if not store.blob(check_digest(one[0]), one[1]).exists()]
    begun = dict(reversed(lacking))  # a content that is there twice, once
    return {
        "missing": [
            [digest, executable, parts.here(store, digest) if begun[digest] == executable else 0]
            for digest, executable in lacking
        ]
    }


def receive(request: "DataOrder", channel: Channel) -> "DataReceived":
    """{manifest, send: [[digest, executable, bytes, bytes that have come before]], limit?} and the rest of each content
    of `send`, one after the other -> {bytes that came now, evicted: [digest]}.

    What has come stays, also where the rest does not. NODE_UNFIT where there is no room that other versions
    would give up; CONFLICT where a content is not what it is called.
    """
    check(request["manifest"])
    return take_all(request, channel, channel.body, lambda _done: None)


def take_all(
    request: "Union[DataOrder, DataFetch]", channel: Channel, body: Any, tell: Callable[[int], None]
) -> "DataReceived":
    """`body` has the contents of `send`; `tell` is told how many bytes of them are here."""
    manifest, store = request["manifest"], Store(channel.root)
    files: Any = manifest["files"]
    send: Any = request["send"]
    store.make()
    with store.lock(channel):
        needed = sum(size - before for _digest, _executable, size, before in send)
        evicted = make_room(store, needed, request.get("limit"), manifest)
        reader, done = read_all(body), 0
        for digest, executable, size, before in send:
            told = functools.partial(_tell, tell, done)
            parts.take(store, reader, check_digest(digest), executable, size, before, told)
            done += size - before
        lacking = next(
            (path for path, executable, _size, digest in files if not store.blob(digest, executable).exists()), None
        )
        if lacking is not None:
            raise NodeError(
                "CONFLICT", f"the content of {lacking} is not here any more", "run the command again", retry=True
            )
        store.keep(manifest)
        store.claim(manifest["digest"], request.get("claim"))
    return {"bytes": needed, "evicted": evicted}


def _tell(tell: Callable[[int], None], before: int, come: int) -> None:
    tell(before + come)


def make_room(store: Store, needed: int, limit: Optional[int], keeping: "DataManifest") -> List[str]:
    """Until `needed` bytes fit, drops what other pushes left when they were cut, and then versions, the one that was
    used longest ago first; none that a run has. Raises NODE_UNFIT.
    """
    evicted: List[str] = []
    files: Any = keeping["files"]
    own = {digest for _path, _executable, _size, digest in files}
    store.sweep(own, LEFT_SECONDS)
    is_swept = False
    while True:
        free = shutil.disk_usage(store.path).free - MARGIN_BYTES
        room = free if limit is None else min(free, limit - store.bytes())
        if needed <= room:
            return evicted
        if not is_swept:
            store.sweep(own, 0.0)
            is_swept = True
            continue
        pins = store.pins()
        others = [one["digest"] for one in store.whole() if one["digest"] != keeping["digest"]]
        candidates = [digest for digest in others if digest not in pins]
        if not candidates:
            runs = sorted({run for names in pins.values() for run in names})
            why = f"; runs have what is there ({', '.join(runs)})" if runs else ""
            what = (
                f"the limit of {limit} bytes"
                if limit is not None and limit - store.bytes() < free
                else f"{max(free, 0)} free bytes"
            )
            raise NodeError(
                "NODE_UNFIT",
                f"the data needs {needed} bytes more, and {store.path} has {what}{why}",
                "flexrack data remove NAME --on NODE",
                needed_bytes=needed,
                free_bytes=max(room, 0),
            )
        oldest = min(candidates, key=store.used)
        store.drop(oldest)
        evicted.append(oldest)


def verify(request: "DataVerify", channel: Channel) -> "DataVerified":
    """{digest, fix?} -> {files, bytes, bad: [path]}: reads all of a version. `fix` drops what is bad, with all versions
    that have it, so that a push brings it anew.
    """
    store = Store(channel.root)
    manifest = store.manifest(request["digest"])
    if not manifest:
        raise NodeError(
            "NOT_FOUND", f"the version {request['digest'][:12]} is not on this node", "flexrack data push NAME"
        )
    tree = store.version(request["digest"]) / "tree"
    files: Any = manifest["files"]
    bad = [
        (path, digest, executable)
        for path, executable, size, digest in files
        if not is_whole(tree / path, size, digest)
    ]
    if bad and request.get("fix"):
        with store.lock(channel):
            drop_bad(store, {(digest, executable) for _path, digest, executable in bad})
    return {"files": len(files), "bytes": manifest["bytes"], "bad": [path for path, _digest, _executable in bad]}


def is_whole(path: Path, size: int, digest: str) -> bool:
    try:
        with open(path, "rb") as stream:
            if os.fstat(stream.fileno()).st_size != size:
                return False
            return sha256_of(stream) == digest
    except OSError:
        return False


def drop_bad(store: Store, bad: Any) -> None:
    pins = store.pins()
    having = [
        one["digest"]
        for one in store.whole()
        if any((digest, executable) in bad for _path, executable, _size, digest in one["files"])
    ]
    runs = sorted({run for digest in having for run in pins.get(digest, [])})
    if runs:
        raise NodeError(
            "CONFLICT",
            f"runs have the data that is damaged: {', '.join(runs)}",
            f"flexrack runs stop {runs[0]}",
            runs=runs,
        )
    for digest, executable in bad:
        store.blob(digest, executable).unlink(missing_ok=True)
    for digest in having:
        store.drop(digest)


def remove(request: "DataDigest", channel: Channel) -> "DataRemoved":
    """{digest} -> {removed: whether it was there, bytes that are free now}. CONFLICT while a run has it."""
    store = Store(channel.root)
    digest = check_digest(request.get("digest"))
    if not store.version(digest).is_dir():
        return {"removed": False, "bytes": 0}
    with store.lock(channel):
        runs = store.pins().get(digest)
        if runs:
            raise NodeError(
                "CONFLICT",
                f"the version {digest[:12]} is in use by run {', '.join(runs)}",
                f"flexrack runs stop {runs[0]}",
                runs=runs,
            )
        before = store.bytes()
        store.drop(digest)
        return {"removed": True, "bytes": before - store.bytes()}


def check(manifest: "DataManifest") -> None:
    """Before anything of it is believed: that its paths are apart from each other and inside, and that it is what it is
    called. Raises BUG.
    """
    paths: Set[str] = set()
    folders: Set[str] = set()
    lines: Any = manifest["files"]
    for path, _executable, size, digest in lines:
        parts = check_path(path).split("/")
        if path in paths or not isinstance(size, int) or size < 0:
            raise NodeError("BUG", f"{path!r} is there twice, or has no size")
        check_digest(digest)
        paths.add(path)
        folders.update("/".join(parts[:end]) for end in range(1, len(parts)))
    both = next(iter(paths & folders), None)
    if both is not None:
        raise NodeError("BUG", f"{both!r} is a file and a folder")
    if digest_of(manifest["files"]) != manifest["digest"]:
        raise NodeError("BUG", f"the files of {manifest['name']} are not those of {manifest['digest'][:12]}")
