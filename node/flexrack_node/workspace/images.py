"""image.keep, .list, .remove: which images the workspaces of this node run in, and removing those that none does."""

from typing import TYPE_CHECKING, List, Set, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import unfit_disk
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.stored import read, write
from flexrack_node.image.store import ImageStore
from flexrack_node.workspace.folder import WorkspaceFolder

if TYPE_CHECKING:
    from flexrack_node.schema.image import (
        ImageEntry,
        ImageForgotten,
        ImageKept,
        ImageOrder,
        ImagesGone,
        ImagesUnwanted,
        ImageUser,
    )


def keep(given: "ImageOrder", channel: Channel) -> "ImageKept":
    """{project, digest, ref, layers, settings}: all layers are here; the project's workspace uses it from now on. What
    runs it here without layers gets it as one folder.
    """
    from flexrack_node.image import engines, runtime  # only where an image comes

    store = ImageStore(channel.root)
    store.make()
    engine = runtime.other_than_bubblewrap(channel.root)
    store.keep(given["digest"], given["ref"], given["layers"], given["settings"], engine)
    if engine:
        name = store.flat(given["digest"]).name
        with FileLock(store.layers / ".locks" / f"flat-{name}", channel, f"making one folder of image {name}"):
            store.forget_half()
            try:
                engines.make_flat(store, given["digest"], given["layers"])
            except OSError as error:
                raise unfit_disk(error, store.path) or error from None
    place = WorkspaceFolder(channel.root, given["project"])
    place.make(channel.root)
    write("workspace.image", place.image, {"digest": given["digest"], "ref": given["ref"]})
    return {"layers": len(given["layers"])}


def forget(given: "ImageUser", channel: Channel) -> "ImageForgotten":
    """{project}: its workspace is on the node's own files again."""
    note = WorkspaceFolder(channel.root, given["project"]).image
    there = note.exists()
    note.unlink(missing_ok=True)
    return {"forgotten": there}


def listing(_given: "None", channel: Channel) -> "List[ImageEntry]":
    """Every image: {digest, ref, layers, bytes, alone, used_by}; `alone`: bytes of layers that no other image has."""
    store = ImageStore(channel.root)
    images, sizes = store.all(), store.sizes()
    users = _users(channel)
    found: List[ImageEntry] = []
    for one in images:
        others: Set[str] = {layer for other in images if other["digest"] != one["digest"] for layer in other["layers"]}
        own = dict.fromkeys(one["layers"])
        size = {layer: sizes.get(layer, {"bytes": 0, "files": 0})["bytes"] for layer in own}
        found.append(
            {
                "digest": one["digest"],
                "ref": one["ref"],
                "layers": list(own),
                "bytes": sum(size.values()),
                "alone": sum(count for layer, count in size.items() if layer not in others),
                "used_by": sorted(user for user, digest in users if digest == one["digest"]),
            }
        )
    return found


def remove(given: "ImagesUnwanted", channel: Channel) -> "ImagesGone":
    """{digests?, dry_run?}: images that no workspace uses, and the layers that only they had. -> {removed, kept,
    layers, bytes}
    """
    store = ImageStore(channel.root)
    wanted = given.get("digests")
    users = _users(channel)
    removed: List[str] = []
    kept: List[str] = []
    for one in store.all():
        if wanted is not None and one["digest"] not in wanted:
            continue
        (kept if any(digest == one["digest"] for _, digest in users) else removed).append(one["digest"])
    staying = {layer for one in store.all() if one["digest"] not in removed for layer in one["layers"]}
    gone = [layer for layer in store.sizes() if layer not in staying]
    size = sum(store.sizes()[layer]["bytes"] for layer in gone)
    if not given.get("dry_run"):
        for digest in removed:
            (store.images / f"{store.layer(digest).name}.json").unlink(missing_ok=True)
        for one_layer in gone:
            store.remove_layer(one_layer, channel)
        store.forget_flats()
        store.forget_half()
    return {"removed": removed, "kept": kept, "layers": len(gone), "bytes": size}


def _users(channel: Channel) -> List[Tuple[str, str]]:
    """(project, digest) of every workspace that has an image."""
    found = []
    for folder in sorted((channel.root / "workspaces").glob("[!.]*")):
        note = read("workspace.image", folder / "image.json")
        if note:
            found.append((folder.name, note["digest"]))
    return found
