"""Files that outlive who wrote them. The number of each kind's shape stands in protocol/ (`files`), and how an older shape becomes today's stands here.

Written with `schema`, the number. A reader gets today's shape without the number: an older one is converted, of a newer one it is said that this flexrack is too old.
A file without a number is of the time before files had any; its shape is the first.
"""
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.base.file_schemas import SCHEMAS

if TYPE_CHECKING:
    from flexrack_node.schema.kept import Current, Line, ReadLine

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
        raise NodeError("NEWER_VERSION", f"{path} was written by a newer flexrack (schema {number} of {kind}; this one knows up to {SCHEMAS[kind]})",
                        "upgrade flexrack here to the version that wrote it", path=str(path), schema=number)
    for to, convert in _CONVERSIONS.get(kind, []):
        if number < to:
            found = convert(found)
    return found


def is_current(kind: str, value: Any) -> bool:
    """For what can be made again: whether it is there, in today's shape."""
    return isinstance(value, dict) and value.get("schema") == SCHEMAS[kind]


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


# By kind: the number that a conversion leads to, in the order of the numbers. src/lib/base/stored.ts has those of files that the command line reads.
_CONVERSIONS: Dict[str, List[Tuple[int, Callable[[Value], Value]]]] = {
    "gpu.address": [(2, _v_is_schema)],
    "run.spec": [(2, _hold_is_keeper)],
    "run.state": [(2, _epoch_is_term)],
    "run.result": [(2, _epoch_is_term)],
    "workspace.index": [(2, _v_is_schema)],
}
