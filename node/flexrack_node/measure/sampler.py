"""Looks at the machine, the ranks and the GPUs every few seconds while a run goes: hardware.jsonl, hardware.json and
MLflow's system metrics.

A thread of the supervisor that shares nothing with its loop but what it reads. It never costs more than a two-hundredth
of a CPU: what a look has cost decides when the next one is. Nothing in it can end the run: where it fails, that is told
in events.jsonl and the run goes on without it.
"""

import contextlib
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Mapping, Optional, Tuple

from flexrack_node.measure import hardware
from flexrack_node.measure.hardware_file import HardwareFile
from flexrack_node.measure.hardware_gpus import GpuReader, GpuReading, gpus_of
from flexrack_node.measure.hardware_summary import Summary
from flexrack_node.measure.job_mapping import JobMapping, run_is_over
from flexrack_node.measure.system_metrics import Pace, batches, named
from flexrack_node.measure.textfile import TextFile
from flexrack_node.rank.launch import interface_of
from flexrack_node.rank.local_ranks import LocalRanks
from flexrack_node.run.files import RunFolder
from flexrack_node.run.recorded import NotRecorded

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record
    from flexrack_node.run.recording import Recorder
    from flexrack_node.schema.runfiles import KeptRunOrder
    from flexrack_node.schema.watch import HardwareSample

SECONDS = 5.0
_COUNTED: Tuple[Literal["net", "disk"], ...] = ("net", "disk")
FIRST_SECONDS = 1.0  # a run of a few seconds leaves something, too
MOST_SHARE = 0.005  # of one CPU
# between two searches of the whole process table for children that were not started by a main thread
_SEARCH_SECONDS = 30.0


class Look(hardware.MachineCounts):
    """Counts at a moment, the machine's, its ranks' and its GPUs'."""

    at: float
    attempt: int
    ranks: Dict[str, Dict[str, float]]
    gpus: Dict[str, GpuReading]


class Sampler:
    """`start()`, then `close()` once the ranks have ended. `recorder`: where metrics go; None for a run that is not
    tracked.
    """

    def __init__(
        self, folder: RunFolder, spec: "KeptRunOrder", local: LocalRanks, recorder: "Optional[Callable[[], Recorder]]"
    ) -> None:
        self._folder, self._spec, self._local, self._recorder = folder, spec, local, recorder
        self._seconds = float(spec.get("sample_seconds") or SECONDS)
        self._interface = interface_of(spec.get("address") or "")
        self._file = HardwareFile(folder.path / "hardware.jsonl")
        self._trees: Dict[str, hardware.ProcessTree] = {}
        self._attempt = 0
        self._before: Look
        self._searched = self._sent_at = 0.0
        self._refused = False
        self._textfile: Optional[TextFile] = None
        self._mapping: Optional[JobMapping] = None
        self._pace = Pace(len(spec.get("nodes") or [1]))
        self._totals: Dict[str, List[float]] = {"net": [0.0, 0.0], "disk": [0.0, 0.0]}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """What happens from now on counts. The thread may come late: on a machine that has much to do, after the ranks
        have sent what they had.
        """
        try:
            self._before = {
                "at": time.monotonic(),
                "attempt": 0,
                **hardware.machine(self._interface),
                "ranks": {},
                "gpus": {},
            }
        except Exception:
            self._tell_failure()
        else:
            self._thread.start()

    def close(self) -> None:
        """Takes a last look; waits for it, but not for ever: a file system that hangs must not keep the run from
        ending.
        """
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(10.0)

    def _run(self) -> None:
        gpus: Optional[GpuReader] = None
        try:
            uuids = gpus_of(self._spec, reserved_of(self._spec))
            self._summary = Summary(self._folder, self._interface, uuids)
            gpus = GpuReader(uuids, self._seconds, lambda why: self._folder.event("gpu metrics lost", why=why))
            gpus.latest()
            self._open_textfile()
            self._open_mapping(uuids)
            wait = min(FIRST_SECONDS, self._seconds)
            while True:
                is_last = self._over.wait(wait)
                spent = time.thread_time()
                self._sample(gpus)
                if is_last:
                    break
                wait = max(self._seconds, (time.thread_time() - spent) / MOST_SHARE)
            self._summary.write()
        except Exception:
            self._tell_failure()
        finally:
            if gpus:
                gpus.close()
            if self._textfile:
                self._textfile.close()
            self._tell_mapping(JobMapping.close)

    def _tell_failure(self) -> None:
        """Whatever it is, it is not the run's trouble."""
        self._folder.event("sampler failed", trace=traceback.format_exc())

    def _open_textfile(self) -> None:
        folder = self._spec.get("textfile")
        if not folder:
            return
        try:
            self._textfile = TextFile(Path(folder), self._spec)
        except OSError as error:
            self._folder.event("metrics not written", why=str(error))

    def _open_mapping(self, uuids: Optional[List[str]]) -> None:
        folder = self._spec.get("dcgm")
        if folder and uuids is not None:  # else nobody chose, and it may have any
            run, root = self._spec["run"], Path(self._spec["root"])
            self._mapping = JobMapping(Path(folder), run, run_is_over(root, run))

    def _tell_mapping(self, tell: Callable[[JobMapping], None]) -> None:
        if self._mapping is None:
            return
        try:
            tell(self._mapping)
        except OSError as error:  # as of the other file
            self._mapping = None
            self._folder.event("GPU jobs not written", why=str(error))

    def _write_textfile(self, sample: "HardwareSample", gpus: "Mapping[str, GpuReading]") -> None:
        if self._textfile is None:
            return
        attempt = sample["attempt"]
        try:
            self._textfile.write(sample, gpus, self._folder.attempt(attempt) if attempt > 0 else None)
        except OSError as error:  # no such folder, no right to it, a full disk: told once, and left
            self._textfile = None
            self._folder.event("metrics not written", why=str(error))

    def _look(self, gpus: GpuReader) -> "Look":
        """Counts as they are now."""
        self._follow_ranks()
        parents = None
        if self._trees and time.monotonic() - self._searched > _SEARCH_SECONDS:
            self._searched, parents = time.monotonic(), hardware.all_parents()
        ranks = {rank: tree.read(parents) for rank, tree in self._trees.items()}
        return {
            "at": time.monotonic(),
            "attempt": self._attempt,
            **hardware.machine(self._interface),
            "ranks": {rank: counts for rank, counts in ranks.items() if counts},
            "gpus": gpus.latest(),
        }

    def _follow_ranks(self) -> None:
        attempt, records = self._local.attempt, self._local.records
        if attempt != self._attempt:
            self._attempt, self._trees, self._searched = attempt, {}, time.monotonic() - _SEARCH_SECONDS + self._seconds
        for rank, record in list(records.items()):
            if "exit" in record or "pid" not in record:
                self._trees.pop(str(rank), None)
            elif str(rank) not in self._trees:
                self._trees[str(rank)] = hardware.ProcessTree(record["pid"])

    def _sample(self, gpus: GpuReader) -> None:
        before, now = self._before, self._look(gpus)
        seconds = round(now["at"] - before["at"], 3)  # as it is kept: rates are made of it, and amounts of them again
        if seconds < 0.05:
            return
        self._before = now
        sample = difference(before, now, seconds, time.time())
        if now["attempt"] > 0:
            sample["logs"] = _log_sizes(self._folder, now["attempt"])
        for key in _COUNTED:
            self._totals[key] = [total + max(0, b - a) for total, a, b in zip(self._totals[key], before[key], now[key])]
        self._file.append(sample)
        self._summary.add(sample, now["gpus"])
        self._write_textfile(sample, now["gpus"])
        self._tell_mapping(lambda mapping: mapping.hold(now["gpus"]))
        self._log(sample, now["gpus"])

    def _log(self, sample: "HardwareSample", gpus: "Mapping[str, GpuReading]") -> None:
        if self._recorder is None:
            return
        several = len(self._spec["nodes"]) > 1
        values = named(sample, self._totals, gpus, self._spec["node"] if several else "")
        at = time.monotonic()
        if self._sent_at and at - self._sent_at < self._pace.seconds(len(values)) - self._seconds / 2:
            return
        self._sent_at = at
        try:
            for part in batches(values, sample["t"], self._pace.logged()):
                self._recorder().log_metrics(part)
            self._refused = False
        except (
            NotRecorded
        ) as error:  # the relay keeps them while the head is away; this is its having no room, or a refusal
            if not self._refused:
                self._refused = True
                self._folder.event("hardware not recorded", why=str(error))


def _log_sizes(folder: RunFolder, attempt: int) -> Dict[str, int]:
    """By rank: which lines were there when, as the logs themselves have no times (runs/merged.py)."""
    found: Dict[str, int] = {}
    with contextlib.suppress(OSError):
        for rank, path in folder.logs(attempt).items():
            found[str(rank)] = path.stat().st_size
    return found


def difference(before: "Look", now: "Look", seconds: float, at: float) -> "HardwareSample":
    """A line of hardware.jsonl, of two looks. A rank that only the second one saw began in between, for the sampler is
    there before all ranks.
    """

    def rates(key: 'Literal["net", "rdma", "disk"]') -> List[float]:
        return [round(max(0, b - a) / seconds) for a, b in zip(before[key] or [], now[key] or [])]

    busy, ticks = (b - a for a, b in zip(before["cpu"], now["cpu"]))
    ranks: Dict[str, List[Any]] = {}
    for rank, counts in now["ranks"].items():
        old = before["ranks"].get(rank) if before["attempt"] == now["attempt"] else None
        cpu, read, written = (
            max(0.0, counts[key] - (old[key] if old else 0)) / seconds for key in ("cpu", "read", "written")
        )
        ranks[rank] = [round(cpu * 100, 1), counts["rss"], round(read), round(written), counts["processes"]]
    return {
        "t": round(at, 2),
        "s": seconds,
        "attempt": now["attempt"],
        "cpu": round(100.0 * busy / ticks, 1) if ticks > 0 else 0.0,
        "memory": now["memory"],
        "net": rates("net"),
        "rdma": rates("rdma") if before["rdma"] and now["rdma"] else None,
        "disk": rates("disk"),
        "ranks": ranks,
        "gpus": {
            index: [one["used"], one["memory"], one["power"], one["temperature"]]
            for index, one in sorted(now["gpus"].items())
        },
    }


def reserved_of(spec: "KeptRunOrder") -> "Optional[Record]":
    """The run's reservation on this node, while it has one."""
    if not spec.get("reservation"):
        return None
    from flexrack_node.reservation.place import open_place

    root = Path(spec["root"])
    return open_place(root).read_own(spec["reservation"]["lease"], root)
