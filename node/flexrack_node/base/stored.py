"""Files that outlive who wrote them: read and written whole, by their kind. The number of each kind's shape stands in
protocol/ (`files`), and how an older shape becomes today's stands here.

Written with `schema`, the number. A reader gets today's shape without the number: an older one is converted, of a newer
one it is said that this flexrack is too old. A file without a number is of the time before files had any; its shape is
the first.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.base.file_schemas import SCHEMAS

if TYPE_CHECKING:
    from flexrack_node.schema.kept import Current, Line, Read, ReadCurrent, ReadLine, Write

Value = Dict[str, Any]
_FIRST = 1
_T = TypeVar("_T")


def stamped(kind: str, value: Any) -> Value:
    """The value as it is written."""
    return {"schema": SCHEMAS[kind], **value}


def upgraded(kind: str, value: Any, path: Union[Path, str]) -> Any:
    """What was read of a file in today's shape; what is no object is returned as it is. Raises NEWER_VERSION."""
    if not isinstance(value, dict):
        return value
    found = {key: field for key, field in value.items() if key != "schema"}
    number = value.get("schema", _FIRST)
    if not isinstance(number, int) or number > SCHEMAS[kind]:
        raise NodeError(
            "NEWER_VERSION",
            f"{path} was written by a newer flexrack (schema {number} of {kind}; this one knows up to {SCHEMAS[kind]})",
            "upgrade flexrack here to the version that wrote it",
            path=str(path),
            schema=number,
        )
    for to, convert in _CONVERSIONS.get(kind, []):
        if number < to:
            found = convert(found)
    return found


def is_current(kind: str, value: Any) -> bool:
    """For what can be made again: whether it is there, in today's shape."""
    return isinstance(value, dict) and value.get("schema") == SCHEMAS[kind]


def _read(kind: str, path: Path) -> Any:
    """What a file holds, in today's shape; None where it is not there, or is not whole. Raises NEWER_VERSION, OSError."""
    return upgraded(kind, _json_of(path), path)


def _read_current(kind: str, path: Path) -> Any:
    """The same of what can be made again: None for one of another version, too."""
    value = _json_of(path)
    return upgraded(kind, value, path) if is_current(kind, value) else None


def _write(kind: str, path: Path, value: Any, durable: bool = True) -> None:
    # In one piece: json.dump is several times slower.
    replace_file(path, json.dumps(stamped(kind, value), separators=(",", ":")), durable=durable)


def replace_file(path: Path, content: Union[str, bytes], mode: int = 0o600, durable: bool = True) -> None:
    """A reader sees the old file or the new one, whole; durable: also after the machine has stopped. Raises OSError,
    and leaves the old one then.
    """
    # A name of its own: machines that share the folder may have processes with our pid, and a signal's handler may
    # write the same file in the middle of this.
    draft = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            if mode != 0o600:
                # Not by its name: who may write to the folder, too, could have put a link there.
                os.fchmod(file.fileno(), mode)
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _json_of(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def or_nothing(found: Optional[_T]) -> _T:
    """Where there is no such file: an object without fields."""
    return cast(_T, {}) if found is None else found


def _line(kind: str, value: Any) -> bytes:
    """A line of a file of lines."""
    return json.dumps(stamped(kind, value), separators=(",", ":")).encode() + b"\n"


def _read_line(kind: str, text: Union[bytes, str], path: Union[Path, str]) -> Any:
    """The same back; None for one that was cut off, or is no object. Raises NEWER_VERSION."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return upgraded(kind, value, path) if isinstance(value, dict) else None


# The same by the kind of file: what comes in and goes out has its type.
current: "Current" = upgraded
line: "Line" = _line
read_line: "ReadLine" = _read_line
read: "Read" = _read
read_current: "ReadCurrent" = _read_current
write: "Write" = _write


def _epoch_is_term(value: Value) -> Value:
    """A leader's term was called its epoch; the last who wrote no number called it so already."""
    return {"term" if key == "epoch" and "term" not in value else key: field for key, field in value.items()}


def _v_is_schema(value: Value) -> Value:
    """Some files had their number under another name; another than 1 was never written."""
    return {key: field for key, field in value.items() if key not in ("v", "version")}


def _hold_is_keeper(value: Value) -> Value:
    """Of the leases that a run's supervisor holds: flexrack-lease-keeper was called flexrack-hold."""
    leases = value.get("leases")
    if not isinstance(leases, dict):
        return value
    return {**value, "leases": {"keeper" if key == "hold" else key: field for key, field in leases.items()}}


# By kind: the number that a conversion leads to, in the order of the numbers. src/lib/base/stored.ts has those of files
# that the command line reads.
_CONVERSIONS: Dict[str, List[Tuple[int, Callable[[Value], Value]]]] = {
    "gpu.address": [(2, _v_is_schema)],
    "run.spec": [(2, _hold_is_keeper)],
    "run.state": [(2, _epoch_is_term)],
    "run.result": [(2, _epoch_is_term)],
    "workspace.index": [(2, _v_is_schema)],
}
