"""What Slurm said last, on one board for everything that watches runs of this folder: squeue is asked once for all of
them, and seldom while nothing happens.

    <root>/runs/.queue.json     {bin, jobs: {number: {requested, seen: a row of slurm.commands.ask}}, watched: {number: {at, sign, since}}, error: {at, code, message, hint}}
    <root>/runs/.queue.lock     held while Slurm is asked and the board is written

squeue(1), PERFORMANCE: every call is a question to slurmctld, which is kept from its work by many of them. So a job is
asked for again after an eighth of the time for which nothing has been heard of it, between half a second and ten:
another state, or something new in the run's own files (`sign`), makes it quick again. Times in seconds since 1970,
because login nodes may share a folder.
"""

import contextlib
import itertools
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, Iterator, Optional

from flexrack_node.base import shared_lock
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read_current, write
from flexrack_node.slurm import commands

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import QueueBoard, QueueRow, QueueWatched

FIRST, MOST = 0.5, 10.0  # seconds between two questions: right after something has happened, and long after
_EIGHTH = 8.0
_WATCHED = 60.0  # seconds since somebody wanted to know of a job after which nobody does any more
# jobs kept that nobody watches yet: `runs list` comes to them next; arrays of the user's own may have many more
_OTHERS = 1000
_ERROR = 1.0  # seconds for which a refusal is everybody's
_PATIENCE = 40.0  # seconds for another one's question, which has 30 itself

Ask = Callable[[Optional[str], Optional[str]], Dict[str, "QueueRow"]]


def pace(quiet: float) -> float:
    """Seconds for which an answer is good, where nothing has been heard of a job for `quiet` seconds."""
    return min(MOST, max(FIRST, quiet / _EIGHTH))


class Board:
    """`ask` and `now` are for tests: slurm.commands.ask, and the clock."""

    def __init__(
        self,
        runs: Path,
        folder: Optional[str],
        ask: Ask = commands.ask,
        now: Callable[[], float] = time.time,
        patience: float = _PATIENCE,
    ) -> None:
        self._path, self._lock, self._bin = runs / ".queue.json", runs / ".queue.lock", folder
        self._ask, self._now, self._patience = ask, now, patience
        self._good_until = 0.0

    def is_good(self) -> bool:
        """Whether the last answer is so new that there is no use in another look, unless something has happened."""
        return 0 < self._good_until - self._now() <= MOST

    def look(self, job: str, sign: float, most: float = MOST) -> "Optional[QueueRow]":
        """What squeue says of a job, no older than `most` seconds, nor than the newest `sign`; None where it does not
        know it. Raises as slurm.commands.ask.
        """
        begin = self._now()
        kept = self._read()
        note = kept["watched"].get(job)
        # else it is to be noted that somebody watches
        if note and note["sign"] >= sign and 0 <= begin - note["at"] < _WATCHED / 3:
            found = self._good(kept, job, begin, most)
            if found:
                return found
        with self._locked() as is_ours:
            if not is_ours:
                return self._ask(job, self._bin).get(job)
            kept = self._read()
            fresh: QueueWatched = {"at": begin, "sign": sign, "since": begin}
            note = kept["watched"].get(job, fresh)
            if note["sign"] < sign:  # never for an older one: not every node sees what is new at the same time
                note, most = fresh, 0.0
            kept["watched"][job] = {**note, "at": begin}
            found = self._good(kept, job, begin, most)
            if not found:
                self._answer(kept, job)
                found = or_nothing(kept["jobs"].get(job)).get("seen")
                self._good_until = self._now() + pace(begin - kept["watched"][job]["since"])
            self._write(kept)
            return found

    def rest(self, seconds: float) -> None:
        """Nobody looks for so long, but where something has happened."""
        self._good_until = self._now() + seconds

    def _good(self, kept: "QueueBoard", job: str, begin: float, most: float) -> "Optional[QueueRow]":
        """What the board has, where that is new enough. Raises what Slurm has just told somebody else."""
        error = kept.get("error")
        if error and 0 <= begin - error["at"] < _ERROR:
            raise NodeError(error["code"], error["message"], error["hint"])
        row, good = kept["jobs"].get(job), min(most, pace(begin - kept["watched"][job]["since"]))
        if not row or not begin - good < row["requested"] <= self._now():
            return None
        self._good_until = row["requested"] + good
        return row["seen"]

    def _answer(self, kept: "QueueBoard", job: str) -> None:
        """Asks for this job alone, or where others are watched for all that the user has: one question, however many
        they are.
        """
        requested, before = self._now(), kept["jobs"]
        watched = {
            number: note
            for number, note in kept["watched"].items()
            if number == job or 0 <= requested - note["at"] < _WATCHED
        }
        kept["watched"], kept["error"] = watched, None
        try:
            found = self._ask(None if len(watched) > 1 else job, self._bin)
            if job not in found and len(watched) > 1:
                found = {**found, **self._ask(job, self._bin)}  # only so Slurm says itself that it does not know a job
        except NodeError as error:
            self._write(
                {**kept, "error": {"at": self._now(), "code": error.code, "message": error.message, "hint": error.hint}}
            )
            raise
        for number, note in watched.items():
            old, new = before.get(number), found.get(number)
            if old and new and old["seen"]["state"] != new["state"]:
                note["since"] = requested
        others = itertools.islice((number for number in found if number not in watched), _OTHERS)
        kept["jobs"] = {
            number: {"requested": requested, "seen": found[number]} for number in [*others, *watched] if number in found
        }

    @contextlib.contextmanager
    def _locked(self) -> Iterator[bool]:
        """One at a time; False where another one has been at it for too long: it may have been stopped."""
        fd, end = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), time.monotonic() + self._patience
        try:
            while not shared_lock.take(fd):
                if time.monotonic() > end:
                    yield False
                    return
                time.sleep(0.02)
            yield True
        finally:
            os.close(fd)

    def _read(self) -> "QueueBoard":
        kept = read_current("slurm.queue", self._path)  # of another version: Slurm is asked again
        return (
            kept if kept and kept["bin"] == self._bin else {"bin": self._bin, "jobs": {}, "watched": {}, "error": None}
        )

    def _write(self, kept: "QueueBoard") -> None:
        write("slurm.queue", self._path, kept, durable=False)
