"""Event files of a run on this node, and whose they are. Only read.

A rank's writer names its file `events.out.tfevents.SECONDS.HOST.PID.NUMBER`
(torch/utils/tensorboard and TensorFlow: event_file_writer.py), wherever the program wants it: below
FLEXRACK_OUTPUTS, or below the folder that it runs in. What was written before the run began, or
after its end, is another one's.
"""

import os
import re
import stat
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Deque, Dict, Iterator, List, Mapping, Optional, Set, Tuple

from flexrack_node.base.stored import read
from flexrack_node.run.files import RunFolder
from flexrack_node.runs.view import RunView

if TYPE_CHECKING:
    from flexrack_node.schema.board import EventFile

EVENT = re.compile(r"events\.out\.tfevents\.(\d{9,12})\.([^/\0]+)")
MOST_ENTRIES = 200_000  # of folders, for each that is looked through: about a second
_SLACK = 5.0  # seconds: a file's time is in whole ones, and made before its rank is known
_SKIPPED = {".git", "__pycache__", "node_modules", "site-packages"}


class Found:
    """`files` by whom they are of; `looked`: the folders that were looked through; `whole`: nothing in them was passed
    over.
    """

    def __init__(self) -> None:
        self.files: List[EventFile] = []
        self.looked: List[str] = []
        self.whole = True


def find(view: RunView, rank: Optional[int] = None) -> Found:
    """The event files of a run that lie here; with `rank` only that rank's."""
    found = Found()
    seen: Set[str] = set()
    for part in view.parts():
        attempts = {number: _records(part, number) for number in part.attempts()}
        span = _span(attempts, view.is_live())
        for root in (part.outputs, Path(part.spec()["cwd"])):
            real = os.path.realpath(root)
            if real in seen or not os.path.isdir(real):
                continue
            seen.add(real)
            found.looked.append(str(root))
            walk = Walk(root)
            for path, at, pid in walk:
                owner = _owner(attempts, at, pid)
                if span is None or not span[0] <= at <= span[1] or (rank is not None and owner[1] != rank):
                    continue
                inside = os.path.relpath(os.path.dirname(path), root)
                found.files.append(
                    {
                        "run": view.folder.run,
                        "attempt": owner[0],
                        "rank": owner[1],
                        "node": part.spec()["node"],
                        "folder": "" if inside == "." else inside,
                        "name": os.path.basename(path),
                        "bytes": os.stat(path).st_size,
                        "path": path,
                    }
                )
            found.whole = found.whole and walk.whole
    return found


class Walk:
    """Event files below a folder, with the seconds and the process in their names: folders
    nearest first, links to folders followed once.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.whole = True

    def __iter__(self) -> Iterator[Tuple[str, int, Optional[int]]]:
        waiting: Deque[str] = deque([str(self.root)])
        been = {os.path.realpath(self.root)}
        entries = 0
        while waiting:
            try:
                inside = sorted(os.scandir(waiting.popleft()), key=lambda one: one.name)
            except OSError:
                continue  # it went away, or is nobody's to read
            for one in inside:
                entries += 1
                match = EVENT.fullmatch(one.name)
                if match and is_plain(one.path):
                    yield one.path, int(match.group(1)), pid_of(match.group(2))
                elif not match and one.name not in _SKIPPED and one.is_dir():
                    real = os.path.realpath(one.path)
                    if real not in been:
                        been.add(real)
                        waiting.append(one.path)
            if entries > MOST_ENTRIES and waiting:
                self.whole = False
                return


def is_plain(path: str) -> bool:
    """A file, or a link to one: who reads a pipe waits for ever."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def pid_of(rest: str) -> Optional[int]:
    """HOST.PID.NUMBER with what a program has put after it; a host has dots, and may have numbers.

    None where there is none (tensorboardX of old).
    """
    words = rest.split(".")
    for index in range(len(words) - 1, 0, -1):
        if words[index].isdigit() and words[index - 1].isdigit():
            return int(words[index - 1])
    return None


def _records(part: RunFolder, attempt: int) -> List[Dict[str, Any]]:
    """As ranks wrote them: one in a sandbox names its files by the number that it knows itself by."""
    return [
        dict(record)
        for record in (read("run.rank", path) for path in sorted(part.attempt(attempt).glob("rank-*.json")))
        if record
    ]


def _span(attempts: Mapping[int, List[Dict[str, Any]]], live: bool) -> Optional[Tuple[float, float]]:
    """From when to when the run's ranks may have made files; None where none has begun."""
    records = [one for some in attempts.values() for one in some]
    if not records:
        return None
    ends = [one.get("ended") for one in records]
    known = [end for end in ends if end is not None]
    return min(one["started"] for one in records) - _SLACK, float("inf") if live or len(known) < len(ends) else max(
        known
    ) + _SLACK


def _owner(attempts: Mapping[int, List[Dict[str, Any]]], at: int, pid: Optional[int]) -> Tuple[int, Optional[int]]:
    """Attempt and rank: by the process; else the attempt by its time, and the rank where a node has only one."""
    for attempt in sorted(attempts, reverse=True):
        for one in attempts[attempt]:
            if (
                pid is not None
                and one.get("pid") == pid
                and one["started"] - _SLACK <= at <= one.get("ended", float("inf")) + _SLACK
            ):
                return attempt, one["rank"]
    begun = [
        attempt
        for attempt, records in sorted(attempts.items())
        if records and min(one["started"] for one in records) - _SLACK <= at
    ]
    attempt = begun[-1] if begun else 1
    records = attempts.get(attempt, [])
    return attempt, records[0]["rank"] if len(records) == 1 else None
