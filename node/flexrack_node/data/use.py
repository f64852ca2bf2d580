"""The data of a run: FLEXRACK_DATA/NAME is a link to a version here, and spares it from eviction until the run is over."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.data.store import Store

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import KeptRunOrder


def with_data(spec: "KeptRunOrder", path: Path, channel: Channel) -> "KeptRunOrder":
    """The spec with the folder that its ranks are told. Raises NOT_FOUND where a version is not here."""
    wanted = spec.get("data")
    if not wanted:
        return spec
    store, folder = Store(channel.root), path / "data"
    store.make()
    with store.lock(channel):
        for one in wanted:
            if not store.manifest(one["digest"]):
                raise NodeError(
                    "NOT_FOUND",
                    f"the data {one['name']}@{one['digest'][:12]} is not on this node",
                    f"flexrack data push {one['name']}",
                )
        folder.mkdir(mode=0o700, exist_ok=True)
        for one in wanted:
            link = folder / one["name"]
            if os.path.lexists(link):
                link.unlink()
            link.symlink_to(store.version(one["digest"]) / "tree")
            os.utime(store.version(one["digest"]) / "used")
            # the link is the pin from here on
            (store.version(one["digest"]) / f"claim-{path.name}").unlink(missing_ok=True)
    return {**spec, "data_folder": str(folder)}
