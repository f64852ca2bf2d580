"""A part of one rank's log: its end, what comes after an offset, or where it first tells of a failure or has a text."""

import mmap
import re
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, Union

from flexrack_node.base.errors import NodeError
from flexrack_node.base.file_part import read_from
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.logs import LogQuestion, LogWindow

LIMIT = 128 * 1024
_BEFORE = 4 * 1024  # what is shown before what was looked for
# As FAILURE of src/lib/head/service/page/log-lines.ts, which marks such lines. A hundred megabytes are searched for the
# words, which takes no time, and only lines with one for the pattern.
_WORDS = (b"Traceback (most", b"Error", b"Exception", b"CUDA error", b"FATAL", b"Segmentation fault")
_FAILURE = re.compile(
    rb"Traceback \(most recent call last\)|\b[A-Za-z.]{0,80}(?:Error|Exception)\b:|\bCUDA error\b|\bFATAL\b"
    rb"|\bSegmentation fault\b"
)
_LONGEST_LINE = 64 * 1024
_LONGEST_FAILURE = 128  # bytes that the pattern may match
AT_ONCE = 4 * 1024 * 1024  # bytes that are searched as one


def read(parts: "List[RunFolder]", given: "LogQuestion", live: bool) -> "LogWindow":
    """Whole lines, at most LIMIT bytes of them; of a line that is longer a piece. Raises NOT_FOUND."""
    attempts, attempt, logs = logs_of(parts, given.get("attempt"))
    ranks = sorted(logs)
    rank = given.get("rank")
    if rank is None and ranks:
        rank = ranks[0]
    path = logs.get(-1 if rank is None else rank)
    if path is None or rank is None:
        raise NodeError("NOT_FOUND", f"no log of rank {rank} in attempt {attempt} of run {given['run']} is here")
    size = path.stat().st_size
    start, found = _place(path, size, given)
    data = read_from(path, start, LIMIT)
    if start > 0 and given.get("from") is None:
        start, data = _from_a_line(path, start, data)
    end = data.rfind(b"\n") + 1
    is_all = start + len(data) >= size
    if end > 0 and not (is_all and not live):
        data = data[:end]
    elif is_all and live and len(data) < LIMIT:
        data = b""  # a line that is still being written
    to = start + len(data)
    return {
        "rank": rank,
        "attempt": attempt,
        "ranks": ranks,
        "attempts": attempts,
        "from": start,
        "to": to,
        "size": size,
        "text": data.decode("utf-8", "replace"),
        "found": found,
        "live": live or to < size,
    }


def logs_of(parts: "List[RunFolder]", wanted: Optional[int]) -> Tuple[List[int], int, Dict[int, Path]]:
    """The attempts that have logs, the one that is wanted, else the newest, and its logs by rank."""
    found: Dict[int, Dict[int, Path]] = {}
    for part in parts:
        for attempt in part.attempts():
            for rank, path in part.logs(attempt).items():
                found.setdefault(attempt, {})[rank] = path
    chosen = wanted or max(found, default=0)
    return sorted(found), chosen, found.get(chosen, {})


def _place(path: Path, size: int, given: "LogQuestion") -> Tuple[int, Optional[int]]:
    """Where to begin, and where the line is that was looked for."""
    start = given.get("from")
    if start is not None:
        return min(max(0, start), size), None
    text = given.get("search")
    if not text and not given.get("failure"):
        return max(0, size - LIMIT), None
    found = None
    if size > 0:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            at = first_place(view, text, min(given.get("after") or 0, size))
            found = None if at is None else view.rfind(b"\n", 0, at) + 1
    return (max(0, size - LIMIT), None) if found is None else (max(0, found - _BEFORE), found)


def first_place(view: Union[mmap.mmap, bytes], text: Optional[str], after: int) -> Optional[int]:
    """Of the text, or without one of what tells of a failure."""
    return _first_text(view, text, after) if text else _first_failure(view, after)


def has_capitals(text: str) -> bool:
    """As people search: capital letters count where they are written."""
    return text != text.lower()


def _first_text(view: Union[mmap.mmap, bytes], text: str, after: int) -> Optional[int]:
    wanted = text.encode()
    if has_capitals(text):
        at = view.find(wanted, after)
        return None if at < 0 else at
    for begin in range(after, len(view), AT_ONCE):
        at = view[begin : begin + AT_ONCE + len(wanted) - 1].lower().find(wanted)
        if at >= 0:
            return begin + at
    return None


def _first_failure(view: Union[mmap.mmap, bytes], after: int) -> Optional[int]:
    """The first place whose line tells of a failure."""
    places = {word: view.find(word, after) for word in _WORDS}
    while True:
        found = [(at, word) for word, at in places.items() if at >= 0]
        if not found:
            return None
        at, word = min(found)
        begin = max(view.rfind(b"\n", 0, at) + 1, at - _LONGEST_LINE)
        end = view.find(b"\n", at, at + _LONGEST_LINE)
        if _FAILURE.search(view[begin : at + _LONGEST_LINE if end < 0 else end]):
            return at
        # Of a line without an end, what was searched is not searched again for each word in it.
        places[word] = view.find(word, at + _LONGEST_LINE - _LONGEST_FAILURE if end < 0 else end)


def _from_a_line(path: Path, start: int, data: bytes) -> Tuple[int, bytes]:
    """Without the rest of the line that was cut."""
    if read_from(path, start - 1, 1) == b"\n":
        return start, data
    cut = data.find(b"\n") + 1
    return start + cut, data[cut:]
