"""image.inspect, .tool, .layer, .sandbox: what of an image is here, and taking in what is not."""

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import free_bytes, in_words, unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.stored import write
from flexrack_node.image import limits, runtime
from flexrack_node.image.layer_stream import BadLayer, LayerStream
from flexrack_node.image.store import MOST_LAYERS, ImageStore
from flexrack_node.image.unpack import unpack

if TYPE_CHECKING:
    from flexrack_node.schema.image import (
        ImageFound,
        ImageQuestion,
        LayerMade,
        LayerOrder,
        SandboxLook,
        ToolPlaced,
        ToolWheel,
    )

MOST_BYTES = 512 << 30  # of one layer, unpacked


def inspect(given: "ImageQuestion", channel: Channel) -> "ImageFound":
    """{layers, tool, image?, sandbox?} -> {missing: [diff_id], runtime, lacks, machine, remake}: what has to be sent
    before the image can be used here.
    """
    if len(given["layers"]) > MOST_LAYERS:
        raise NodeError(
            "NODE_UNFIT",
            f"the image has {len(given['layers'])} layers, and overlayfs takes {MOST_LAYERS} of them here",
            "build it with fewer layers, e.g. docker build --squash",
        )
    store = ImageStore(channel.root)
    seen = dict.fromkeys(given["layers"])
    found = runtime.look(channel.root, given["tool"], given.get("sandbox", False))
    kept = store.image(given["image"]) if given.get("image") else None
    remake = (
        kept is not None
        and found["engine"] is not None
        and (
            kept.get("engine", "bubblewrap") != found["engine"]
            or ("engine" in kept and not store.flat(kept["digest"]).is_dir())
        )
    )
    return {
        "missing": [one for one in seen if not store.has_layer(one)],
        "runtime": found,
        "lacks": runtime.lacking(channel.root, given["tool"]),
        "machine": os.uname().machine,
        "remake": remake,
    }


def tool(given: "ToolWheel", channel: Channel) -> "ToolPlaced":
    """{version, lock, name, sha256} and the wheel's bytes: bubblewrap for this node."""
    ImageStore(channel.root).make()
    return {"path": str(runtime.place(given, channel))}


def layer(given: "LayerOrder", channel: Channel) -> "LayerMade":
    """{diff_id, encoding: gzip|none} and the layer's tar as the body: unpacked, whole or not at all. Errors: CONFLICT
    for one that is damaged or hostile.
    """
    store = ImageStore(channel.root)
    store.make()
    name = store.layer(given["diff_id"]).name
    with FileLock(store.layers / ".locks" / name, channel, f"unpacking of layer {name}", owner=given.get("owner")):
        if store.has_layer(given["diff_id"]):  # somebody else was quicker
            while channel.body.read(1 << 20):
                pass
            return {"files": 0, "bytes": 0, "devices": 0, "made": False}
        store.forget_half()
        shutil.rmtree(store.layer(given["diff_id"]), ignore_errors=True)
        part = Path(tempfile.mkdtemp(prefix=f".part-{os.getpid()}-", dir=store.layers))
        try:
            counts = _unpacked(given, channel, part)
            part.chmod(0o755)  # a program in the image that is somebody else there looks at the root, too
            os.rename(part, store.layer(given["diff_id"]))
            kept = {
                "diff_id": given["diff_id"],
                "files": counts["files"],
                "bytes": counts["bytes"],
                "devices": counts["devices"],
            }
            write("image.layer", store.layers / f"{name}.json", cast(Any, kept))
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return {"files": counts["files"], "bytes": counts["bytes"], "devices": counts["devices"], "made": True}


def _unpacked(given: "LayerOrder", channel: Channel, part: Path) -> Any:
    room = free_bytes(part)
    most = min(MOST_BYTES, room) if room is not None else MOST_BYTES
    stream = LayerStream(channel.body, given["encoding"], min(most, given.get("most", most)))
    try:
        counts = unpack(stream, str(part))
        digest = stream.finish()
    except BadLayer as error:
        raise NodeError(
            "CONFLICT",
            f"layer {given['diff_id']} cannot be used: {error}",
            f"{in_words(room)} are free on this node" if room is not None and stream.count > most else None,
            diff_id=given["diff_id"],
        ) from None
    except OSError as error:
        if error.errno == errno.EPERM:
            raise NodeError(
                "NODE_UNFIT",
                "this node does not let its users mark what a layer removes (mknod of 0/0)",
                "Linux 5.8 or newer is needed, outside of a container that forbids it",
            ) from error
        if error.errno == errno.ENOTSUP:
            raise NodeError(
                "NODE_UNFIT",
                f"the file system of {part.parent} keeps no user xattrs, which overlayfs needs",
                "set `root` in the rack file to a folder on a local disk",
            ) from error
        if error.errno in (errno.ENAMETOOLONG, errno.EINVAL, errno.ELOOP, errno.EISDIR, errno.ENOTDIR):
            raise NodeError(
                "CONFLICT", f"layer {given['diff_id']} cannot be used: {error.strerror}", None, diff_id=given["diff_id"]
            ) from error
        raise unfit_disk(error, part) or error from None
    if digest != given["diff_id"]:
        raise NodeError(
            "CONFLICT",
            f"layer {given['diff_id']} arrived with another content ({digest})",
            "run the command again; where it stays so, the image's settings do not belong to its layers",
            diff_id=given["diff_id"],
        )
    return counts


def sandbox(given: "ImageQuestion", channel: Channel) -> "SandboxLook":
    """{tool}: what holds a sandbox here. -> {runtime, limits, lacks}"""
    return {
        "runtime": runtime.look(channel.root, given["tool"], sandbox=True),
        "limits": limits.look(),
        "lacks": runtime.lacking(channel.root, given["tool"]),
    }
