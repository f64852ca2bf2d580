"""Images on this node, by content.

<root>/images/l/<id>/        a layer unpacked, <id> the first 32 hex digits of its diff_id: overlayfs' option has 4096 bytes for all paths of an image
             /l/<id>.json    written once it is whole: what it is
             /l/.locks/<id>  held by who unpacks or removes it
             /i/<id>.json    an image: its layers and settings; <id> of its manifest's digest
             /f/<id>/        an image as one folder, where it is run by what stacks no layers
             /s/<pid>-*/     what a program may write to beside the workspace, there; goes with it
             /bin/<version>/ bubblewrap, as it was sent
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read, write

if TYPE_CHECKING:
    from flexrack_node.schema.image import Engine, ImageSettings, ImageSize, KeptImage

_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
MOST_LAYERS = 60  # beyond, the option of the mount may not fit


def id_of(digest: str) -> str:
    """Raises USAGE for what is no digest: it becomes a path."""
    found = _DIGEST.fullmatch(digest) if isinstance(digest, str) else None
    if found is None:
        raise NodeError("USAGE", f"not a digest: {digest!r}")
    return found.group(1)[:32]


class ImageStore:
    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "images"
        self.layers, self.images, self.tools = self.path / "l", self.path / "i", self.path / "bin"
        self.flats, self.scratches = self.path / "f", self.path / "s"

    def make(self) -> None:
        from flexrack_node.base.installed import record  # not where something is entered

        record(self.root, self.path, "images")
        for folder in (self.path, self.layers, self.images, self.tools, self.layers / ".locks"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def layer(self, diff_id: str) -> Path:
        return self.layers / id_of(diff_id)

    def flat(self, digest: str) -> Path:
        return self.flats / id_of(digest)

    def has_layer(self, diff_id: str) -> bool:
        return self.layer(diff_id).is_dir() and read("image.layer", self.layers / f"{id_of(diff_id)}.json") is not None

    def image(self, digest: str) -> "Optional[KeptImage]":
        return read("image.image", self.images / f"{id_of(digest)}.json")

    def need(self, digest: str) -> "KeptImage":
        """The image, with all of its layers there. Raises NOT_FOUND."""
        found = self.image(digest)
        if found is None or not all(self.has_layer(one) for one in found["layers"]):
            raise NodeError("NOT_FOUND", f"the image {digest} is not on this node any more", "flexrack workspace up")
        return found

    def keep(
        self, digest: str, ref: str, layers: List[str], settings: "ImageSettings", engine: "Optional[Engine]" = None
    ) -> None:
        """`engine`: what runs it here, where that is not bubblewrap."""
        missing = [one for one in layers if not self.has_layer(one)]
        if missing:
            raise NodeError("CONFLICT", f"layer {missing[0]} of {ref} is not on this node", "run the command again")
        kept: KeptImage = {"digest": digest, "ref": ref, "layers": layers, "settings": settings}
        if engine:
            kept["engine"] = engine
        write("image.image", self.images / f"{id_of(digest)}.json", kept)

    def all(self) -> "List[KeptImage]":
        found = (read("image.image", path) for path in sorted(self.images.glob("*.json")))
        return [one for one in found if one]

    def sizes(self) -> "Dict[str, ImageSize]":
        """Of every layer, by its diff_id, each once."""
        found: Dict[str, ImageSize] = {}
        for path in sorted(self.layers.glob("*.json")):
            kept = read("image.layer", path)
            if kept:
                found[kept["diff_id"]] = {"bytes": kept["bytes"], "files": kept["files"]}
        return found

    def remove_layer(self, diff_id: str, channel: Channel) -> int:
        """-> bytes that became free."""
        import shutil

        from flexrack_node.base.filelock import FileLock

        path = self.layer(diff_id)
        with FileLock(self.layers / ".locks" / path.name, channel, f"removal of layer {path.name}"):
            size = self.sizes().get(diff_id, {"bytes": 0, "files": 0})["bytes"]
            (self.layers / f"{path.name}.json").unlink(missing_ok=True)
            shutil.rmtree(path, ignore_errors=True)
            return size

    def forget_flats(self) -> None:
        """Of images that are gone, or that bubblewrap runs by now."""
        from flexrack_node.image import flat

        needed = {self.flat(one["digest"]).name for one in self.all() if "engine" in one}
        for folder in self.flats.glob("[0-9a-f]*"):
            if folder.name not in needed:
                flat.remove(str(folder))

    def forget_half(self) -> None:
        """What those who were killed while they unpacked have left."""
        from flexrack_node.image import flat

        for part in (*self.layers.glob(".part-*"), *self.flats.glob(".part-*")):
            pid = part.name.split("-")[1]
            if not (pid.isdigit() and os.path.exists(f"/proc/{pid}")):
                flat.remove(str(part))
