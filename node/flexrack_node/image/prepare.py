"""What an entrance needs to know before it opens: the image's layers, the runtime, the GPUs, and whether what is asked
for can be had here.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.image import bubblewrap, gpus
from flexrack_node.image.leased import leased
from flexrack_node.image.marks import SANDBOX, TAGS, tags_of
from flexrack_node.image.merged import MergedLayers, libc_of, needed_glibc
from flexrack_node.image.sandbox import Sandbox, Start, changed
from flexrack_node.image.store import ImageStore

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder, ImageSettings


BUBBLEWRAP = "bubblewrap"


class Prepared(NamedTuple):
    engine: str
    program: str
    root: Path
    order: "EnterOrder"
    layers: "Optional[List[str]]"
    gpus: gpus.GpuParts
    settings: "ImageSettings"
    own: List[str]  # folders of flexrack's

    def start(self, argv: List[str], env: Mapping[str, str]) -> Start:
        """`env`: what we are started with."""
        inside = {**self._image_variables(env), **tags_of(env)}
        if self.engine == BUBBLEWRAP:
            sandbox = Sandbox(self.program, self.order, self.layers, self.gpus, self.own)
            # bubblewrap stays as a doorkeeper, which nobody is to take for the program.
            return Start(
                sandbox.argv(argv, inside),
                {key: value for key, value in env.items() if key not in TAGS},
                sandbox.data,
                None,
            )
        from flexrack_node.image import engines

        return engines.start(
            self.engine, self.program, self.root, (self.order, self.gpus), argv, changed(self.order, env, inside)
        )

    def _image_variables(self, env: Mapping[str, str]) -> Dict[str, str]:
        """Those that the image sets, and those of GPUs. What the workspace sets itself comes first; of PATH the
        image's, behind what the workspace has in front.
        """
        found = (
            {name: value for name, value in self.settings.get("env", {}).items() if name not in self.order["keep"]}
            if self.layers is not None
            else {}
        )
        if self.layers is not None:
            found["PATH"] = os.pathsep.join(
                [*self.order["path"], found.get("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")]
            )
        found.update(self.gpus.env)
        if self.order.get("isolate") is not None:
            found[SANDBOX] = "1"
        library_folders = [one for one in (found.get("LD_LIBRARY_PATH"), self.order.get("drivers")) if one]
        if library_folders or self.gpus.library_folders:
            first = [self.order["drivers"]] if self.order.get("drivers") else []
            rest = [
                part
                for part in (found.get("LD_LIBRARY_PATH") or env.get("LD_LIBRARY_PATH", "")).split(os.pathsep)
                if part and part not in first
            ]
            found["LD_LIBRARY_PATH"] = os.pathsep.join([*first, *rest, *self.gpus.library_folders])
        return found


def prepare(root: Path, environments: Path, order: "EnterOrder") -> Prepared:
    """Raises NOT_FOUND (the image is gone), NODE_UNFIT (nothing runs it here, or it does not go with our drivers)."""
    order = with_defaults(root, environments, order)
    store = ImageStore(root)
    kept = store.need(order["image"]) if order.get("image") else None
    layers = [str(store.layer(one)) for one in kept["layers"]] if kept else None
    engine = kept.get("engine", BUBBLEWRAP) if kept else BUBBLEWRAP
    program = _program(engine, root, order, bool(kept))
    parts = gpus.parts(order["gpus"])
    if layers is not None and order.get("drivers"):
        check_drivers(layers, order["drivers"])
    return Prepared(
        engine,
        program,
        root,
        order,
        layers,
        parts,
        kept["settings"] if kept else {"env": {}},
        [str(root), str(environments)],
    )


def _program(engine: str, root: Path, order: "EnterOrder", has_image: bool) -> str:
    if engine == BUBBLEWRAP:
        program = bubblewrap.find(root) if has_image else bubblewrap.find(root, bubblewrap.OLDEST_BARE)
        if program is None:
            raise NodeError(
                "NODE_UNFIT", "bubblewrap is not on this node, which images and sandboxes need", "flexrack workspace up"
            )
        return program
    if order.get("isolate") is not None:
        raise NodeError(
            "NODE_UNFIT",
            f"this node runs images by {engine}, which separates nothing: there are no sandboxes (workspace.isolate) here",
            "flexrack check says why bubblewrap does not work here",
        )
    from flexrack_node.image import engines

    other = engines.ENGINES[engine].find()
    if other is None:
        raise NodeError(
            "NODE_UNFIT", f"{engine}, by which this node ran the image, is not there any more", "flexrack workspace up"
        )
    return other


def with_defaults(root: Path, environments: Path, order: "EnterOrder") -> "EnterOrder":
    """What is flexrack's here can be reached inside by its path: to write, or in a sandbox the Python environment and
    what was leased to read.
    """
    gpu = leased(root, os.environ)
    if order["cwd"] == ".":
        order = {**order, "cwd": os.getcwd()}
    order = {**order, "over": [*order.get("over", []), *([path, path] for path in gpu.sockets)]}
    if order.get("isolate") is None:
        return {**order, "write": [*dict.fromkeys([str(root), str(environments), *order["write"]])]}
    places = [str(environments / ".uv" / "pythons")]
    for folder in map(Path, order["path"]):
        places.append(str(folder.parent))
        if not order.get("image"):  # the Python that the environment was made from may lie in a home
            base = str(Path(os.path.realpath(folder / "python")).parents[1])
            places += [] if base in ("/", "/usr", "/usr/local") else [base]
    return {**order, "read": [*places, *gpu.read, *order["read"]]}


def check_drivers(layers: List[str], folder: str) -> None:
    """Our GPU drivers are libraries of glibc; raises NODE_UNFIT where the image has another one, or an older one than
    they need.
    """
    libc, version = libc_of(MergedLayers(layers))
    needed = needed_glibc([str(path) for path in sorted(Path(folder).glob("*.so*"))])
    wanted = f"glibc {needed[0]}.{needed[1]} or newer"
    if libc != "glibc":
        raise NodeError(
            "NODE_UNFIT",
            f"GPUs of other nodes cannot be used in this image: it has {'musl' if libc == 'musl' else 'no libc'}, and flexrack's GPU drivers need {wanted}",
            "take an image of Debian, Ubuntu, Red Hat or another with glibc",
        )
    if version < needed:
        raise NodeError(
            "NODE_UNFIT",
            f"GPUs of other nodes cannot be used in this image: it has glibc {version[0]}.{version[1]}, and flexrack's GPU drivers need {wanted}",
            "take a newer image",
        )
