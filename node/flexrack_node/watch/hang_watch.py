"""Looks at the ranks of one node: which make no progress, and for how long. The leader judges (watch/hang.py); on its
word the stacks are taken here.

Progress is any of: an optimizer's step, a batch out of a data loader, a collective begun or ended (the progress file);
a metric through the relay; a line in the log. What is judged is how long none of them came, by the supervisor's own
clock, so neither clock skew nor a stopped supervisor makes a hang.

A rank is stalled after
    after                 and never before 10 times its median step, once it has made a step;
    6 x after             before its first step: imports, data preparation, compilation and loading of a checkpoint are long;
and 3 times later where it is busy outside of collectives (CPU or files): evaluation, a checkpoint being written, and
also an endless loop. Before the first step a busy one is never stalled. One that has never told anything (no Python, or
`python -I`) is stalled only where it is idle as well.
"""

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Tuple

from flexrack_node.base.stored import or_nothing
from flexrack_node.process.containment import is_alive
from flexrack_node.process.look import busy_seconds, cpu_wait_seconds, io_bytes, throttled_seconds
from flexrack_node.run.files import RunFolder
from flexrack_node.watch.progress import progress_path, read_progress
from flexrack_node.watch.stacks import dump, teller
from flexrack_node.watch.straggler import paces

if TYPE_CHECKING:
    from flexrack_node.schema.gang import RanksWatched, StacksTaken, StalledRank
    from flexrack_node.schema.result import PaceOfRank, RankRecord
    from flexrack_node.schema.runfiles import KeptRunOrder
    from flexrack_node.schema.watch import RankProgress

AFTER_SECONDS = 300.0
STEPS = 10  # median steps without progress
BEFORE_FIRST = 6
BUSY = 3
_BUSY_CPUS = 0.3  # CPUs in use or wanted, on average since the last progress
_BUSY_BYTES = 1024 * 1024  # read or written a second
_MOST_VIEW_FRAMES = 30  # of a thread, in what travels to the leader; the file has all


class Rank:
    """What was last seen of one rank."""

    def __init__(self, now: float) -> None:
        self.signature: Tuple[Any, ...] = ()
        self.since = now
        self.cpu = self.io = 0.0
        self.progress: Optional[RankProgress] = None
        self.stalled: Optional[StalledRank] = None

    def see(
        self, now: float, signature: Tuple[Any, ...], cpu: float, io: float, progress: "Optional[RankProgress]"
    ) -> None:
        """One look: a signature that differs is progress."""
        if signature != self.signature:
            self.signature, self.since, self.cpu, self.io = signature, now, cpu, io
        self.progress = progress
        self._cpu_now, self._io_now = cpu, io

    def judge(self, now: float, after: float) -> "Optional[StalledRank]":
        """How it is stalled, where it is."""
        idle = now - self.since
        waits = bool(self.progress and self.progress["collective"])
        seconds = max(idle, 1e-3)
        is_busy = (self._cpu_now - self.cpu) / seconds >= _BUSY_CPUS or (
            self._io_now - self.io
        ) / seconds >= _BUSY_BYTES
        patience = patience_of(after, self.progress, waits, is_busy)
        if patience is None or idle < patience:
            return None
        return {"waits": waits, "long": idle > after * BEFORE_FIRST}


def patience_of(after: float, progress: "Optional[RankProgress]", waits: bool, is_busy: bool) -> Optional[float]:
    """Seconds without progress after which a rank is stalled; None: never, as it is now."""
    if progress and progress["steps"]:
        seconds = max(after, STEPS * (progress["median_step"] or 0.0))
        return seconds * BUSY if is_busy and not waits else seconds
    return None if is_busy and not waits else after * BEFORE_FIRST


class Watch:
    """`tick()` never blocks; `observed()` changes only when something is to be told."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder") -> None:
        self._folder = folder
        self.metric_at: Callable[[], float] = lambda: 0.0  # when the relay last took a metric of this node's ranks
        self._after = float(or_nothing(spec.get("hang")).get("after") or AFTER_SECONDS)
        self._is_on = spec.get("watch") is not False
        self._pause = min(1.0, self._after / 4)
        self._attempt = 0
        self._ranks: Dict[int, Rank] = {}
        self._looked = 0.0
        self._dumped: Optional[StacksTaken] = None
        self._requested = 0
        self._looks: Dict[int, Dict[str, float]] = {}  # by rank, what the straggler report wants besides

    def tick(self, attempt: int, records: "Mapping[int, RankRecord]") -> None:
        """Looks at the ranks whose records are given, about once a second."""
        now = time.monotonic()
        if attempt != self._attempt:
            self._attempt, self._ranks, self._dumped, self._requested, self._looks = attempt, {}, None, 0, {}
        if not self._is_on or now - self._looked < self._pause:
            return
        if self._looked and now - self._looked > self._pause + self._after / 2:
            self._ranks = {}  # this process itself stood still: what it would conclude is about itself
        self._looked = now
        for number, record in records.items():
            if "exit" in record:
                self._ranks.pop(number, None)
                continue
            rank = self._ranks.setdefault(number, Rank(now))
            rank.see(now, *self._look(number, record))
            rank.stalled = rank.judge(now, self._after)

    def observed(self, attempt: int) -> "Optional[RanksWatched]":
        """None before the attempt's first tick."""
        return (
            None
            if attempt != self._attempt
            else {
                "stalled": {str(number): rank.stalled for number, rank in sorted(self._ranks.items()) if rank.stalled},
                "watched": sorted(self._ranks),
                "dumped": self._dumped,
            }
        )

    def paces(self) -> "Dict[str, PaceOfRank]":
        """How fast each rank of the attempt was (straggler.paces); to be asked once it is over."""
        return paces(self._folder.attempt(self._attempt), self._looks)

    def dump(self, number: int) -> None:
        """Takes the stacks of all ranks, in a thread; once for each number."""
        if number <= self._requested:
            return
        self._requested = number
        attempt, now = self._attempt, time.monotonic()
        idle = {str(rank): round(now - one.since, 1) for rank, one in self._ranks.items()}
        threading.Thread(target=self._dump, args=(number, attempt, idle), daemon=True).start()

    def _dump(self, number: int, attempt: int, idle: Dict[str, float]) -> None:
        ranks = dump(self._folder, attempt)
        for one in ranks:
            for thread in one["threads"]:
                del thread["frames"][_MOST_VIEW_FRAMES:]
        if attempt == self._attempt:
            self._dumped = {"number": number, "ranks": ranks, "idle": idle}

    def _look(
        self, number: int, record: "RankRecord"
    ) -> "Tuple[Tuple[Any, ...], float, float, Optional[RankProgress]]":
        path = self._folder.attempt(self._attempt)
        progress = read_progress(progress_path(path, number))
        pid = teller(record, progress)
        try:
            logged = (path / f"rank-{number}.log").stat().st_size
        except OSError:
            logged = 0
        self._looks[number] = (
            {"cpu_wait": cpu_wait_seconds(pid), "throttled": throttled_seconds(pid)}
            if is_alive(pid)
            else self._looks.get(number, {})
        )
        reported = (
            (progress["steps"], progress["batches"], progress["collectives"], progress["collectives_done"])
            if progress
            else ()
        )
        signature = (pid, logged, self.metric_at(), *reported)
        return signature, busy_seconds(pid), float(io_bytes(pid)), progress
