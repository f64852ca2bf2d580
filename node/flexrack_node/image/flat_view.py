"""What a program sees in an image that is one folder: pairs of what is here and where it is mounted, for runtimes that
mount, or translate, one path at a time.

What is the runtime's own to do (/dev, /proc, /sys) is not in it. Homes and what else programs write to are folders of
this entrance, which go with it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.image import flat
from flexrack_node.image.gpus import GpuParts
from flexrack_node.image.merged import MergedLayers
from flexrack_node.image.sandbox import NAMES, exact, home_of, people, place_in

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder

_OWN = ("/run", "/var/tmp")
_KERNELS = ("/dev", "/proc", "/sys")  # the runtime mounts them


class FlatView:
    """`folder`: the image; `scratch`: an empty folder of ours."""

    def __init__(self, folder: str, order: "EnterOrder", gpus: GpuParts, scratch: Path) -> None:
        self.folder, self.order, self.gpus, self.scratch = folder, order, gpus, scratch
        self.image = MergedLayers([folder])
        self.binds: List[Tuple[str, str]] = []

    def collect(self) -> List[Tuple[str, str]]:
        """Later ones lie over earlier ones. Raises NODE_UNFIT."""
        for path in _KERNELS:
            exact(self.image, path)
            self._point(path, is_folder=True)
        self._bind("/tmp", "/tmp")
        for path in (*_OWN, home_of()):
            if path.startswith("/tmp/"):
                continue  # it is there
            own = self.scratch / path.strip("/").replace("/", "-")
            own.mkdir(mode=0o700, exist_ok=True)
            self._bind(str(own), path)
        program = str(Path(__file__).resolve().parents[2])
        for path in (
            os.path.expanduser("~/.cache"),
            program,
            *self.order["read"],
            *self.order["write"],
            *(one["path"] for one in self.order.get("volumes", [])),
        ):
            if os.path.exists(path):
                self._bind(path, path)
        for source, target in (
            *self.order.get("over", []),
            *self._of_gpus(),
            *((os.path.realpath(name), name) for name in NAMES),
        ):
            if os.path.exists(source):
                self._bind(source, target)
        for name, content in people(self.image).items():
            file = self.scratch / name
            file.write_bytes(content)
            self._bind(str(file), f"/etc/{name}")
        return self.binds

    def _of_gpus(self) -> List[Tuple[str, str]]:
        files: Dict[str, str] = {target: source for source, target in self.gpus.files}
        found = list(self.gpus.files)
        for target, link in self.gpus.links:
            source = files.get(os.path.join(os.path.dirname(link), target))
            found += [(source, link)] if source else []
        return found

    def _bind(self, source: str, target: str) -> None:
        if ":" in source or ":" in target:
            raise NodeError(
                "NODE_UNFIT",
                f"what runs images here takes no path with a colon: {source}",
                "another `root` in the rack file, or another name",
            )
        place = place_in(self.image, target)
        self._point(place, os.path.isdir(source))
        self.binds.append((source, place))

    def _point(self, place: str, is_folder: bool) -> None:
        """Something to mount over: in our own folder that is mounted above it, else in the image. What is ours
        elsewhere has the same paths inside.
        """
        above = next(
            (
                (source, target)
                for source, target in reversed(self.binds)
                if place.startswith(f"{target}/") or place == target
            ),
            None,
        )
        try:
            if above is None:
                flat.mount_point(self.folder, place, is_folder)
            elif Path(above[0]).parent == self.scratch:
                flat.mount_point(above[0], place[len(above[1]) :], is_folder)
        except OSError as error:
            raise NodeError(
                "NODE_UNFIT", f"the image cannot be used: nothing can be mounted at its {place}: {error.strerror}", None
            ) from error
