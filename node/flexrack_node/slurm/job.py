"""A run under Slurm, seen from the login node: its folder is on a file system that all nodes of the job share.

    <root>/runs/<run>/
        spec.json          as of any run, with scheduler: slurm, and the gang's secret
        job.sh, job.log    the script given to sbatch, and what it said
        job.json           {job}: Slurm's number; 12_7 of task 7 of an array
        gang.json          where the leader listens, and the job's nodes: written by slurm.step.prepare; {start, attempts} of a job that Slurm started again
        stop.json          somebody asked flexrack for the end
        members/<i>/       the folder of the run on the job's node number i, as run/files.py describes one
        members-<n>/<i>/   the same since Slurm has started the job again (slurm/starts.py)
        result.json        how it ended, by Slurm and by the leader (slurm/verdict.py)

Whether it is alive is asked of Slurm, never guessed from files.
"""

import contextlib
import time
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from flexrack_node.base import shared_lock
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.rank.rank import tail
from flexrack_node.run.cause import close_result
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm import board, commands, starts
from flexrack_node.slurm.board import Board
from flexrack_node.slurm.verdict import judge
from flexrack_node.watch.hang import hangs

if TYPE_CHECKING:
    from flexrack_node.schema.result import NodeRunStatus, RankRecord, Requeued
    from flexrack_node.schema.run import NodeRun, NodeRunDetail
    from flexrack_node.schema.runfiles import KeptRunOrder, QueueRow, RunState

_NOW = 1.0  # seconds for which what Slurm has said is how it is now
_SUBMITTED = 2.0  # seconds between two questions for a job's number, while nobody has written it down

_STATUS = {"CONFIGURING": "starting", "COMPLETING": "stopping"}


class SlurmJob:
    """The folder and the job. `seen` is asked for once, when it is needed."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.spec = folder.spec()
        self.bin: Optional[str] = self.spec["slurm"].get("bin")
        self._board = Board(folder.path.parent, self.bin)
        self._seen: Optional[QueueRow] = None
        self._last: Optional[QueueRow] = None  # the same, also of a job that is over
        self._signed = 0.0

    def job(self) -> Optional[str]:
        """Slurm's number; looked for by name where whoever submitted it was killed before writing it down."""
        known = read("run.job", self.folder.path / "job.json")
        if known:
            value: Optional[str] = known["job"]
            return value
        array = self.spec["slurm"].get("array")
        found = (
            commands.find(array["name"], self.bin, array["task"]) if array else commands.find(self.folder.run, self.bin)
        )
        if found:
            write("run.job", self.folder.path / "job.json", {"job": found})
        return found

    def members(self) -> List[RunFolder]:
        """Of the job's newest start, in the order of the gang; those that have begun."""
        return starts.parts(self.folder.path, self._start())

    def parts(self) -> List[RunFolder]:
        """Of all of the job's starts, oldest first."""
        return [part for number in starts.numbers(self.folder.path) for part in starts.parts(self.folder.path, number)]

    def leader(self) -> RunFolder:
        return RunFolder(starts.place(self.folder.path, self._start()) / "0")

    def _start(self) -> int:
        return int(or_nothing(read("run.gang", self.folder.path / "gang.json")).get("start", 0))

    def requeued(self, state: Optional[str]) -> "Optional[Requeued]":
        """{times, why}: how often Slurm has put the job back into its queue, and why the last time, where that is
        known. `state`: what Slurm says now.
        """
        left = or_nothing(self.leader().result()).get("requeued")
        has_begun = (self.folder.path / "gang.json").exists()
        times = self._start() + (1 if left or (has_begun and state in commands.WAITING) else 0)
        attempts = or_nothing(read("run.gang", self.folder.path / "gang.json")).get("attempts")
        return (
            {"times": times, "why": or_nothing(left or (attempts[-1].get("requeued") if attempts else None)).get("why")}
            if times
            else None
        )

    def nodes(self) -> List[str]:
        found: List[str] = or_nothing(read("run.gang", self.folder.path / "gang.json")).get("nodes", [])
        return found

    def watch(self) -> "Optional[QueueRow]":
        """As look, for loops: the same again until something may have changed, by what the run's own files and
        slurm_board tell.
        """
        if not self._seen or self._sign() > self._signed or not self._board.is_good() or self.folder.result():
            self.look(board.MOST)
        return self._seen

    def look(self, most: float = _NOW) -> "Optional[QueueRow]":
        """What Slurm says, or has said in the last `most` seconds; None where it says that the job is over, or the
        result is there.
        """
        self._seen = self._look(most)
        return self._seen

    def _look(self, most: float) -> "Optional[QueueRow]":
        if self.folder.result():
            return None
        self._signed = self._sign()
        job = self.job()
        if job is None and time.time() - (self.folder.path / "spec.json").stat().st_mtime < 60:
            self._board.rest(_SUBMITTED)
            return commands.told_by_records(None, "PENDING", None)  # sbatch is at it
        seen = self._board.look(job, self._signed, most) if job else None
        if job and seen and seen["state"] not in commands.OPEN:
            # nobody looks again at what is over, so it is not told of what was true a while ago
            seen = self._board.look(job, self._signed, _NOW)
        self._last = seen
        return seen if seen and seen["state"] in commands.OPEN else None

    def _sign(self) -> float:
        """When something happened last, by the run's own files; 0.0 where nothing has."""
        times = [0.0]
        for path in (
            self.folder.path / "job.json",
            self.folder.path / "gang.json",
            self.folder.path / "stop.json",
            self.leader().path / "result.json",
        ):
            with contextlib.suppress(OSError):
                times.append(path.stat().st_mtime)
        return max(times)

    def close(self) -> None:
        """Writes the result, once Slurm says that the job is over. For runs/repair.py: who only looks changes nothing.
        Where Slurm cannot be asked, it is done later.
        """
        with contextlib.suppress(NodeError):
            if self.folder.result() or self.look():
                return
            job = self.job()
            self._close(self._last or (commands.account(job, self.bin) if job else None))

    def _close(self, seen: "Optional[QueueRow]") -> None:
        """Once: all who watch learn the end at the same moment, and what is closed is read no more as the job has left
        it.
        """
        with open(self.folder.path / "close.lock", "wb") as lock:
            shared_lock.wait(lock.fileno())
            if not self.folder.result():
                self._close_once(seen)

    def _close_once(self, seen: "Optional[QueueRow]") -> None:
        """Slurm has ended every process of the job, so what the members wrote is all that there will be."""
        lines = tail(self.folder.path / "job.log")
        leader = self.leader().result()
        attempts, outputs = or_nothing(read("run.gang", self.folder.path / "gang.json")).get("attempts") or [], None
        if leader and leader.get("requeued"):  # it told of a start that was not the last
            attempts, outputs, leader = leader["attempts"], leader.get("outputs"), None
        spec: KeptRunOrder = {**self.spec, "slurm": {**self.spec["slurm"], "job": self.job()}, "attempts": attempts}
        result = judge(spec, seen, leader, bool(self.folder.stop_request()), lines)
        if outputs is not None:
            result["outputs"] = outputs
        result["slurm"] = {**result["slurm"], "requeued": self.requeued(or_nothing(seen).get("state"))}
        is_reported = leader is not None and [leader.get(key) for key in ("status", "cause")] == [
            result["status"],
            result["cause"],
        ]
        recorded = not self.spec.get("tracking") or bool(
            is_reported and all(or_nothing(one.result()).get("recorded") for one in self.parts())
        )
        # what the tracking server was told, or was not told any more, is told again from this folder
        if not is_reported:
            path = self.leader().path
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            if not (path / "spec.json").exists():
                write("run.spec", path / "spec.json", {**self.spec, "index": 0})
            write("run.result", path / "result.json", {**result, "recorded": not self.spec.get("tracking")})
        for member in self.parts():
            if not member.result():
                partial = close_result(
                    member.spec(),
                    {"status": result["status"], "cause": result["cause"], "attempts": []},
                    result["started"],
                )
                write("run.result", member.path / "result.json", partial)
        self.folder.write("result", {**result, "recorded": recorded})

    def summary(self, known: "Optional[QueueRow]" = None) -> "NodeRun":
        """As PlainRun.summary; with `slurm`, what Slurm says. `known`: what it has just said, and is not asked for
        again.
        """
        try:
            seen = known or self.look()
        except NodeError as error:  # one that cannot be asked is no reason to show none
            seen = commands.told_by_records(
                or_nothing(read("run.job", self.folder.path / "job.json")).get("job"), "UNKNOWN", error.message
            )
        result, leader = self.folder.result(), self.leader()
        state = leader.state()
        return {
            "run": self.folder.run,
            "project": self.spec.get("project"),
            "node": self.spec["node"],
            "index": 0,
            "term": 1,
            "leader": self.spec["node"],  # this node, whose word is that of Slurm and of the job's leader
            "committed": result is not None,
            "replaceable": False,
            "nodes": self.nodes(),
            "processes": self.spec["processes"],
            "launcher": self.spec["launcher"],
            "created": float(self.spec.get("created") or 0),
            "status": result["status"] if result else self._status(or_nothing(seen), state),
            "attempt": state.get("attempt")
            or len(or_nothing(read("run.gang", self.folder.path / "gang.json")).get("attempts") or []),
            "live": result is None,
            "gang": None,
            "exit": result["exit"] if result else None,
            "cause": result.get("cause") if result else None,
            "started": result["started"] if result else state.get("started"),
            "ended": result["ended"] if result else None,
            "recorded": result.get("recorded") if result else None,
            "tracked": or_nothing(self.spec.get("tracking")).get("run_id"),
            "slurm": {
                "job": or_nothing(seen).get("job") or or_nothing(or_nothing(result).get("slurm")).get("job"),
                "state": seen["state"] if seen else or_nothing(or_nothing(result).get("slurm")).get("state"),
                "reason": or_nothing(seen).get("reason"),
                "start": or_nothing(seen).get("start"),
                "partition": or_nothing(seen).get("partition"),
                "source": seen["source"]
                if seen
                else or_nothing(or_nothing(result).get("slurm")).get("source", "records"),
                "nodes": len(self.nodes()) or self.spec["slurm"]["nodes"],
                "requeued": or_nothing(result.get("slurm")).get("requeued")
                if result
                else self.requeued(or_nothing(seen).get("state")),
            },
        }

    def _status(self, seen: "QueueRow", state: "RunState") -> "NodeRunStatus":
        if seen.get("state") in commands.WAITING:
            return "waiting"
        known: Any = "starting" if or_nothing(self.leader().result()).get("requeued") else state.get("status")
        own: Any = (
            known
            if known in ("waiting", "running", "stopping", "recording")
            else "recording"
            if known == "ended"
            else "starting"
        )
        status: NodeRunStatus = own if own == "recording" else _STATUS.get(str(seen.get("state")), own)
        return status

    def detail(self, known: "Optional[QueueRow]" = None) -> "NodeRunDetail":
        """As PlainRun.detail. Nothing is alive once Slurm has ended the job; until then what the records say. `known`:
        as of summary.
        """
        summary = self.summary(known)
        records: Dict[str, Dict[str, RankRecord]] = {}
        result: Any = self.folder.result()
        for member in self.parts():
            for number in member.attempts():
                records.setdefault(str(number), {}).update(
                    {str(rank): record for rank, record in sorted(member.records(number).items())}
                )
        now = [record for member in self.members() for record in member.records(summary["attempt"]).values()]
        live = [record["pid"] for record in now if "exit" not in record and "pid" in record]
        return {
            **summary,
            "command": self.spec["command"],
            "environment": self.spec.get("environment"),
            "code": self.spec.get("code"),
            "data": self.spec.get("data") or [],
            "uploads": self.spec.get("uploads") or [],
            "uploaded": None,
            "commit": self.spec.get("commit"),
            "folder": str(self.folder.path),
            "records": records,
            "alive": live if summary["live"] and summary["status"] != "waiting" else [],
            "result": result,
            "hangs": [hang for part in self.parts() if part.path.name == "0" for hang in hangs(part)],
        }
