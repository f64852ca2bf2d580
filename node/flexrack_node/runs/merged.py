"""The logs of several ranks as one, by time: what each rank wrote between two looks of the sampler stands together.

Ranks write their logs themselves, so no line has a time. But the sampler notes how long each log is whenever it looks
(measure/sampler.py, `logs` of hardware.jsonl): a line belongs to the look by which it was whole. Places are times of looks,
in milliseconds since 1970; 0 is before all.
"""

import mmap
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple, Union

from flexrack_node.base.errors import NodeError
from flexrack_node.measure.hardware_file import read_samples
from flexrack_node.run.files import RunFolder
from flexrack_node.runs.window import AT_ONCE, LIMIT, first_place, has_capitals, logs_of

if TYPE_CHECKING:
    from pathlib import Path

    from flexrack_node.schema.logs import MergedLog, MergedPiece, MergedQuestion

_LONGEST_LINE = 64 * 1024
_Piece = Tuple[int, int, bytes]  # time, rank, whole lines


class _Log:
    """One rank's log, and how long it was when. `times` and `ends` have the same length; ends are ends of lines."""

    def __init__(self, rank: int, path: "Path", sizes: List[Tuple[int, int]], live: bool) -> None:
        self.rank, self._file = rank, open(path, "rb")
        status = path.stat()
        self.size = status.st_size
        self.view: Union[mmap.mmap, bytes] = b""
        if self.size > 0:
            self.view = mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ)
        self.times = [time for time, _ in sizes]
        self.ends = [self._end_of_line(min(size, self.size)) for _, size in sizes]
        if not live and (not self.ends or self.ends[-1] < self.size):
            self.times.append(max(int(status.st_mtime * 1000), self.times[-1] + 1 if self.times else 0))
            self.ends.append(self.size)

    def close(self) -> None:
        if isinstance(self.view, mmap.mmap):
            self.view.close()
        self._file.close()

    def end_at(self, time: int) -> int:
        """How long it was then."""
        index = bisect_right(self.times, time)
        return self.ends[index - 1] if index else 0

    def time_of(self, offset: int) -> Optional[int]:
        """Of the look that first saw this byte; None: none has."""
        index = bisect_right(self.ends, offset)
        return self.times[index] if index < len(self.times) else None

    def _end_of_line(self, offset: int) -> int:
        """A line longer than others are is cut."""
        at = self.view.rfind(b"\n", max(0, offset - _LONGEST_LINE), offset) if offset else -1
        return at + 1 if at >= 0 else (offset if offset > _LONGEST_LINE else 0)


def read(parts: "List[RunFolder]", given: "MergedQuestion", live: bool) -> "MergedLog":
    """At most about LIMIT bytes. Raises NOT_FOUND where no such log is here, or none has times."""
    attempts, attempt, paths = logs_of(parts, given.get("attempt"))
    ranks = sorted(paths)
    if not ranks:
        raise NodeError("NOT_FOUND", f"no log of attempt {attempt} of run {given['run']} is here")
    wanted = given.get("ranks")
    live = live and attempt == attempts[-1]
    sizes = _sizes(parts, attempt)
    logs = [_Log(rank, paths[rank], sizes.get(rank, []), live) for rank in ranks if wanted is None or rank in wanted]
    try:
        axis = sorted({time for log in logs for time in log.times})
        first, found = _first(logs, axis, given)
        only = given.get("only") or ""
        before = given.get("before")
        until = axis[-1] if before is None and axis else (before or 0)
        if first is not None:
            begin, pieces, to = first, *_forward(logs, axis, first, only)
        else:
            (begin, pieces), to = _backward(logs, axis, until, only), until
        return {
            "attempt": attempt,
            "ranks": ranks,
            "attempts": attempts,
            "from": begin,
            "to": to,
            "size": sum(log.size for log in logs),
            "pieces": [_told(piece) for piece in pieces],
            "found": found,
            "live": live or (bool(axis) and to < axis[-1]),
        }
    finally:
        for log in logs:
            log.close()


def _sizes(parts: "List[RunFolder]", attempt: int) -> Dict[int, List[Tuple[int, int]]]:
    """By rank: times and how long its log was, oldest first."""
    found: Dict[int, List[Tuple[int, int]]] = {}
    for part in parts:
        for sample in read_samples(part.path / "hardware.jsonl"):
            if sample["attempt"] == attempt:
                for rank, size in (sample.get("logs") or {}).items():
                    found.setdefault(int(rank), []).append((round(sample["t"] * 1000), int(size)))
    return found


def _first(logs: List[_Log], axis: List[int], given: "MergedQuestion") -> Tuple[Optional[int], Optional[int]]:
    """The place to read from (None: up to the end, or up to `before`), and the time of what was looked for."""
    text = given.get("search")
    if not text and not given.get("failure"):
        return given.get("from"), None
    after = given.get("after") or 0
    found = None
    for log in logs:
        begin = log.end_at(after)
        if begin < log.size:
            at = first_place(log.view, text, begin)
            time = None if at is None else log.time_of(at)
            found = time if found is None or (time is not None and time < found) else found
    return (None, None) if found is None else (_before(axis, _before(axis, found)), found)


def _before(axis: List[int], time: int) -> int:
    index = bisect_left(axis, time)
    return axis[index - 1] if index > 0 else 0


def _forward(logs: List[_Log], axis: List[int], first: int, only: str) -> Tuple[List[_Piece], int]:
    """And the place that it reaches."""
    pieces: List[_Piece] = []
    room, to = LIMIT, first
    for time in axis[bisect_right(axis, first) :]:
        found = _between(logs, to, time, only)
        pieces += found
        room, to = room - sum(len(data) for _, _, data in found), time
        if room <= 0:
            break
    return pieces, to


def _backward(logs: List[_Log], axis: List[int], until: int, only: str) -> Tuple[int, List[_Piece]]:
    """And the place that it begins at."""
    newest_first: List[List[_Piece]] = []
    room, begin = LIMIT, until
    for time in reversed(axis[: bisect_right(axis, until)]):
        begin = _before(axis, time)
        newest_first.append(_between(logs, begin, time, only))
        room -= sum(len(data) for _, _, data in newest_first[-1])
        if room <= 0:
            break
    return begin, [piece for found in reversed(newest_first) for piece in found]


def _between(logs: List[_Log], after: int, until: int, only: str) -> List[_Piece]:
    """What came between two looks, rank by rank; where it is far too much, the beginning of each."""
    spans = [(log, log.end_at(after), log.end_at(until)) for log in logs]
    spans = [span for span in spans if span[1] < span[2]]
    share = max(4096, LIMIT // max(1, len(spans)))
    pieces = []
    for log, begin, end in spans:
        if only:
            data, is_all = _lines_with(log.view, only, begin, end, share)
        else:
            data, is_all = log.view[begin : min(end, begin + share)], end - begin <= share
        if not is_all:
            data = data[: data.rfind(b"\n") + 1] or data
            data += b"... rank %d wrote more in these seconds than fits: its own log has it\n" % log.rank
        if data:
            pieces.append((until, log.rank, data))
    return pieces


def _lines_with(view: Union[mmap.mmap, bytes], text: str, begin: int, end: int, most: int) -> Tuple[bytes, bool]:
    """Whole lines that have the text, about `most` bytes of them, and whether these are all."""
    wanted, size = text.encode(), 0
    found: List[bytes] = []
    while begin < end:
        stop = min(end, begin + AT_ONCE)
        if stop < end:
            stop = view.rfind(b"\n", begin, stop) + 1 or stop
        block = view[begin:stop]
        searched = block if has_capitals(text) else block.lower()
        at = searched.find(wanted)
        while at >= 0:
            if size >= most:
                return b"".join(found), False
            line = block[block.rfind(b"\n", 0, at) + 1 : block.find(b"\n", at) + 1 or len(block)]
            found.append(line)
            size += len(line)
            after = block.find(b"\n", at)
            at = searched.find(wanted, after) if after >= 0 else -1
        begin = stop
    return b"".join(found), True


def _told(piece: _Piece) -> "MergedPiece":
    time, rank, data = piece
    return {"t": time, "rank": rank, "text": data.decode("utf-8", "replace")}
