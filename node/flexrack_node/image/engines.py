"""Other runtimes than bubblewrap, in the order in which they are tried, and what is started with one. All of them take
an image as one folder (flat.py), and none makes a sandbox.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional, Protocol, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.image import apptainer, chrun, flat, proot
from flexrack_node.image.flat_view import FlatView
from flexrack_node.image.gpus import GpuParts
from flexrack_node.image.sandbox import Start
from flexrack_node.image.store import ImageStore

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder


class Engine(Protocol):
    """A module for each."""

    NAME: str

    def find(self) -> Optional[str]: ...

    def works(self, program: str) -> bool: ...

    def words(
        self, program: str, folder: str, binds: List[Tuple[str, str]], cwd: str, argv: List[str]
    ) -> List[str]: ...

    def environment(self, env: Dict[str, str]) -> Dict[str, str]: ...


ENGINES: "Dict[str, Engine]" = {one.NAME: one for one in (chrun, apptainer, proot)}
LOSS = {
    "ch-run": "images are read-only there, volumes are not, all devices are seen, and there are no sandboxes",
    "apptainer": "images are read-only there, volumes are not, all devices are seen, and there are no sandboxes",
    "proot": "nothing is separated there: images are read-only for all but root, volumes for nobody, all devices are seen, system calls are slow, and there are no sandboxes",
}


def choose() -> Optional[Tuple[str, str]]:
    """(name, program) of the first that works here."""
    for name, engine in ENGINES.items():
        program = engine.find()
        if program and engine.works(program):
            return name, program
    return None


def start(
    name: str, program: str, root: Path, seen: "Tuple[EnterOrder, GpuParts]", argv: List[str], env: Dict[str, str]
) -> Start:
    engine, (order, gpus) = ENGINES[name], seen
    store = ImageStore(root)
    folder = store.flat(order["image"])
    if not folder.is_dir():
        raise NodeError(
            "NOT_FOUND",
            f"the image {order['image']} is not on this node any more as {name} needs it",
            "flexrack workspace up",
        )
    sweep(store)
    scratch = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=store.scratches))
    try:
        binds = FlatView(str(folder), order, gpus, scratch).collect()
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return Start(engine.words(program, str(folder), binds, order["cwd"], argv), engine.environment(env), {}, scratch)


def sweep(store: ImageStore) -> None:
    """What entrances have left that were killed."""
    store.scratches.mkdir(mode=0o700, exist_ok=True)
    for one in store.scratches.iterdir():
        if not os.path.exists(f"/proc/{one.name.split('-')[0]}"):
            shutil.rmtree(one, ignore_errors=True)


def make_flat(store: ImageStore, digest: str, layers: List[str]) -> None:
    """The image as one folder, whole or not at all; nothing where it is there. Called with its lock held."""
    place = store.flat(digest)
    if place.is_dir():
        return
    store.flats.mkdir(mode=0o700, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".part-{os.getpid()}-", dir=store.flats))
    try:
        flat.flatten([str(store.layer(one)) for one in layers], str(part))
        part.chmod(0o755)
        os.rename(part, place)
    finally:
        flat.remove(str(part))
