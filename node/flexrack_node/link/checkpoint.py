"""Which checkpoint of a run is the newest that is whole, on this node; told by files alone, because its writer may be
dead.

A checkpoint is a file or a folder below FLEXRACK_OUTPUTS that `checkpoint.path` of the spec names: with a trailing
slash everything in that folder, else what the glob matches. Half-written is what looks like it: a name that is used
beside the real one, nothing in it, an archive or tensor file that ends too early, shards of
torch.distributed.checkpoint without `.metadata` (which is written last), no marker where one is named.
"""

import json
import os
import re
import struct
from pathlib import Path
from typing import IO, TYPE_CHECKING, Iterator, List, Optional

if TYPE_CHECKING:
    from flexrack_node.schema.gang import CheckpointFile, CheckpointFound
    from flexrack_node.schema.order import CheckpointOrder

_BESIDE = re.compile(r"(^[.~])|(\.(partial|part|tmp|temp|incomplete|lock)$)|(^tmp[-_.])|(-tmp$)", re.IGNORECASE)
# of torch.distributed.checkpoint's FileSystemWriter: its coordinator writes it when all shards are there
_METADATA = ".metadata"
# APPNOTE.TXT 4.3: the end record comes last, so a torn torch.save() lacks it
_ZIP, _ZIP_END = b"PK\x03\x04", b"PK\x05\x06"
_ZIP_TAIL = 65535 + 22


def newest(outputs: Path, wanted: "CheckpointOrder") -> "Optional[CheckpointFound]":
    """The newest whole checkpoint; None where there is none."""
    found = [(describe(outputs, one), one) for one in candidates(outputs, wanted["path"])]
    ordered = sorted(found, key=lambda one: (one[0]["at"], one[0]["name"]), reverse=True)
    return next((reported for reported, path in ordered if is_whole(path, wanted.get("marker"))), None)


def candidates(outputs: Path, pattern: str) -> List[Path]:
    """What `pattern` names, whole or not. Never through a link: what it points to is another checkpoint, or not ours."""
    clean = pattern.rstrip("/")
    base = outputs / clean
    if pattern.endswith("/") and not any(one in clean for one in "*?["):
        named = list(base.iterdir()) if base.is_dir() else []
    else:
        named = list(outputs.glob(clean))
    return sorted(one for one in named if not one.is_symlink() and (one.is_file() or one.is_dir()))


def is_whole(path: Path, marker: Optional[str] = None) -> bool:
    """Whether its writer has finished it, as far as files tell. `marker`: a file in a checkpoint that is a folder; what
    is added to the name of one that is a file.
    """
    if _BESIDE.search(path.name) or (marker and path.is_file() and path.name.endswith(marker)):
        return False
    if marker and not ((path / marker) if path.is_dir() else path.with_name(path.name + marker)).is_file():
        return False
    try:
        if path.is_file():
            return _is_whole_file(path)
        files = list(_files(path))
        if not files or any(
            _BESIDE.search(part) and part != _METADATA for one in files for part in one.relative_to(path).parts
        ):
            return False
        shards = {one.parent for one in files if one.suffix == ".distcp"}
        return all((folder / _METADATA).is_file() for folder in shards) and all(
            _is_whole_file(one, may_be_empty=True) for one in files
        )
    except OSError:  # taken away while we looked
        return False


def describe(outputs: Path, path: Path) -> "CheckpointFound":
    """What tells one checkpoint from another, also on another node."""
    found = [one.stat() for one in (_files(path) if path.is_dir() else [path])]
    return {
        "name": path.relative_to(outputs).as_posix(),
        "at": max((one.st_mtime_ns for one in found), default=0),
        "bytes": sum(one.st_size for one in found),
    }


def has(outputs: Path, checkpoint: "CheckpointFound") -> bool:
    """Whether this very checkpoint is here: written here, fetched before, or on a file system that the nodes share."""
    path = outputs / checkpoint["name"]
    try:
        return path.exists() and describe(outputs, path) == {
            "name": checkpoint["name"],
            "at": checkpoint["at"],
            "bytes": checkpoint["bytes"],
        }
    except OSError:
        return False


def parts(outputs: Path, name: str) -> "List[CheckpointFile]":
    """Its files. Raises ValueError for a name that leads elsewhere."""
    path = inside(outputs, name)
    return [
        {"name": one.relative_to(outputs).as_posix(), "bytes": one.stat().st_size, "at": one.stat().st_mtime_ns}
        for one in (_files(path) if path.is_dir() else [path])
    ]


def inside(outputs: Path, name: str) -> Path:
    """A path below `outputs`. Raises ValueError for one that is not."""
    if os.path.isabs(name) or ".." in Path(name).parts or not Path(name).parts:
        raise ValueError(f"not below the outputs: {name}")
    path = outputs / name
    if path.is_symlink() or outputs.resolve() not in path.resolve().parents:
        raise ValueError(f"not below the outputs: {name}")
    return path


def _files(folder: Path) -> Iterator[Path]:
    for one in sorted(folder.rglob("*")):
        if one.is_file() and not one.is_symlink():
            yield one


def _is_whole_file(path: Path, may_be_empty: bool = False) -> bool:
    size = path.stat().st_size
    if size == 0:
        return may_be_empty
    with open(path, "rb") as file:
        head = file.read(8)
        if head[:4] == _ZIP:
            file.seek(max(0, size - _ZIP_TAIL))
            return _ZIP_END in file.read()
        if path.suffix == ".safetensors":
            return size == _safetensors_size(file, head)
    return True


def _safetensors_size(file: IO[bytes], head: bytes) -> Optional[int]:
    """What its header says: 8 bytes of length, JSON with the offsets of every tensor, the tensors (safetensors' README,
    "Format").
    """
    if len(head) < 8:
        return None
    (length,) = struct.unpack("<Q", head)
    text = file.read(length) if length < 100_000_000 else b""
    try:
        ends = [one["data_offsets"][1] for name, one in json.loads(text).items() if name != "__metadata__"]
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
    found: Optional[int] = 8 + length + max(ends, default=0)
    return found
