"""One attempt on one node: starts the launcher, watches the records, ends everything and proves it."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Mapping, Optional

from flexrack_node.base.stored import write
from flexrack_node.image.for_run import entered
from flexrack_node.image.marks import is_inside
from flexrack_node.process.containment import Containment, is_alive, send_signal
from flexrack_node.process.start import same_rank
from flexrack_node.rank.launch import gang_argv, rank_environment, rendezvous_environment
from flexrack_node.rank.mpi import remove_scratch
from flexrack_node.rank.packaged import remove_ray_scratch
from flexrack_node.rank.rank import signal_name, tail
from flexrack_node.rank.uploads import Uploads
from flexrack_node.run.cause import ONE_A_NODE
from flexrack_node.run.files import RunFolder, containment_tag
from flexrack_node.run.keeper import keeper_of
from flexrack_node.watch.hang_watch import Watch

if TYPE_CHECKING:
    from flexrack_node.gpu.seat import Seat
    from flexrack_node.schema.gang import GangObserved, LaunchTrouble
    from flexrack_node.schema.result import PaceOfRank, RankRecord
    from flexrack_node.schema.runfiles import KeptRunOrder

TICK = 0.05  # seconds between two looks
FAILURE_GRACE = 1.0  # seconds: ranks of a gang that has failed have nothing to save; the bar is 2 s for all of it
_LINGER = 20.0  # seconds that the launcher may take to end after its last rank ended well


class LocalRanks:
    """Driven by `tick()`, which never blocks for long; `observed()` is what the leader is told."""

    def __init__(
        self,
        folder: RunFolder,
        spec: "KeptRunOrder",
        relay: Optional[int],
        forbids: Optional[Callable[[], Optional[str]]] = None,
    ) -> None:
        """`forbids` tells why nothing may be started here any more, if that is so."""
        self._folder, self._spec, self._relay, self._forbids = folder, spec, relay, forbids
        self._expected = 1 if spec["launcher"] in ONE_A_NODE else spec["processes"]
        self._launcher: Optional[subprocess.Popen[bytes]] = None
        self._containment: Optional[Containment] = None
        self._stop_at: Optional[float] = None  # when grace is over
        self._quiet_since: Optional[float] = None
        self._is_over = False
        self.watch = Watch(folder, spec)
        self._paces: Dict[str, PaceOfRank] = {}  # how fast its ranks were, once the attempt is over
        self.attempt = 0
        self.phase: Literal["idle", "running", "ended"] = "idle"
        self.records: Dict[int, RankRecord] = {}
        self.survivors: List[int] = []
        self.trouble: Optional[LaunchTrouble] = None
        self._uploads: Optional[Uploads] = None
        self.seat: Optional[Seat] = None  # where it has reserved the node
        self.unsaved = bool(spec.get("uploads"))

    def start(
        self,
        attempt: int,
        port: int,
        rendezvous: str,
        gang: Optional[Mapping[str, Any]] = None,
        checkpoint: Optional[Path] = None,
    ) -> None:
        """Starts attempt number `attempt`, where that was not done before. `gang`: what differs from the run's spec for
        this attempt (nodes, index, address of the first); `checkpoint`: where its ranks go on from.
        """
        if attempt <= self.attempt:
            return
        spec = {**self._spec, **(gang or {})}
        self.attempt, self.phase, self.records, self.trouble = attempt, "running", {}, None
        self._paces, self._uploads, self.unsaved = {}, None, bool(self._spec.get("uploads"))
        self._stop_at = self._quiet_since = None
        self._is_over = False
        forbidden = self._forbids() if self._forbids else None
        if forbidden:
            self.trouble = {"at": time.time(), "message": forbidden, "exit": None, "tail": []}
            self.phase = "ended"
            self._folder.event("refused", attempt=attempt, why=forbidden)
            return
        folder = self._folder.attempt(attempt)
        folder.mkdir(parents=True, exist_ok=True)
        self._folder.outputs.mkdir(exist_ok=True)
        self._containment = Containment(
            containment_tag(self._spec, attempt), self._folder.path, look_only=keeper_of(self._spec).has_cgroups
        )
        env = rank_environment(spec, attempt, port, self._folder.outputs, self._relay)
        env.update(rendezvous_environment(spec, port, rendezvous))
        env.update(self._containment.environment())
        if checkpoint:
            env["FLEXRACK_CHECKPOINT"] = str(checkpoint)
        argv = entered(spec, self._folder.path, folder, gang_argv(spec, folder, self._containment.cgroup, port), env)
        log = os.open(folder / "agent.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._launcher = subprocess.Popen(
                argv,
                cwd=self._spec["cwd"],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            if is_inside(spec):
                self._containment.enter(self._launcher.pid)
        except OSError as error:
            self.trouble = {
                "at": time.time(),
                "message": f"{error.filename or argv[0]}: {error.strerror}",
                "exit": 127,
                "tail": [],
            }
            self.phase = "ended"
        finally:
            os.close(log)
        self._folder.event("started", attempt=attempt, launcher=self._launcher.pid if self._launcher else None)

    def stop(self, attempt: int, grace: float, quiet: bool = False) -> None:
        """Asks the ranks to end within `grace` seconds (0: at once). Asking again can only bring the end nearer.
        `quiet`: they have been asked already; a second SIGTERM would break off what they do about the first.
        """
        if self.phase != "running" or attempt != self.attempt:
            return
        now = time.monotonic()
        if self._stop_at is None:
            self._folder.event("stopping", attempt=attempt, grace=grace)
            if grace > 0 and not quiet and not self.is_signalled():
                # Only the ranks, not their own children: a rank that wants to save its state still needs its loaders.
                for record in self._folder.records(attempt).values():
                    if "exit" not in record and is_alive(record["pid"]):
                        send_signal(record["pid"], signal.SIGTERM, same_rank(record))
        self._stop_at = min(now + grace, self._stop_at if self._stop_at is not None else now + grace)

    def is_signalled(self) -> bool:
        """Whoever keeps the run has sent SIGTERM to all of its processes, the ranks too."""
        return keeper_of(self._spec).signals_ranks and (self._folder.path / "signal.json").exists()

    def tick(self) -> bool:
        """Looks at what happened; True where what is observed changed."""
        if self.phase != "running":
            return False
        if self._uploads:
            return self._tick_uploads(self._uploads)
        before = self.observed()
        self.records = self._folder.records(self.attempt)
        self.watch.tick(self.attempt, self.records)
        status = self._launcher.poll() if self._launcher else 127
        finished = [record for record in self.records.values() if "exit" in record]
        if status is not None:
            if self._is_over:
                self._end(status)
            # ending it may take a second: the records are told first, so that the others end meanwhile
            self._is_over = True
        elif self._stop_at is not None:
            if time.monotonic() >= self._stop_at or len(finished) == len(self.records):
                self._end(None)
        elif (
            self._spec["launcher"] != "mpi"
            and len(finished) >= self._expected
            and all(record["exit"] == 0 for record in finished)
        ):
            self._quiet_since = self._quiet_since or time.monotonic()
            if time.monotonic() - self._quiet_since > _LINGER:
                self._end(None)
        return self.observed() != before

    def observed(self) -> "GangObserved":
        """What the leader needs to know about this node, as plain data."""
        return {
            "attempt": self.attempt,
            "phase": self.phase,
            "records": {str(rank): record for rank, record in self.records.items()},
            "survivors": self.survivors,
            "trouble": self.trouble,
            "unsaved": self.unsaved,
            "watch": self.watch.observed(self.attempt),
            "paces": self._paces,
        }

    def _end(self, status: Optional[int]) -> None:
        """The launcher has ended, or must: nothing of this attempt stays alive."""
        assert self._containment is not None
        noticed = time.time()
        if status is not None:
            self._wait_for_records()
        left = 1.0 if self._stop_at is None else min(1.0, self._stop_at - time.monotonic())
        if self._spec["launcher"] == "mpi" and status is None:
            self._end_ranks_first(max(0.0, left))
        self.survivors = self._containment.terminate(max(0.0, left))
        if self._launcher and self._launcher.poll() is None:
            try:
                self._launcher.wait(timeout=1.0)
            except subprocess.TimeoutExpired:
                pass
        self._containment.close()
        remove_scratch(self._containment.tag)
        remove_ray_scratch(self._spec, self.attempt)
        self.records = self._folder.records(self.attempt)
        self._complete_records(noticed)
        good = [record for record in self.records.values() if record.get("exit") == 0]
        bad = [record for record in self.records.values() if record.get("exit") and not record.get("presumed")]
        if len(good) < self._expected and not bad and self._stop_at is None:
            lines = tail(self._folder.attempt(self.attempt) / "agent.log")
            said = next((line.strip() for line in reversed(lines) if line.strip()), "a rank left no record")
            if status is not None and status < 0:
                said = f"the launcher was killed by SIG{signal_name(status)}"
            exit_code = None if status is None else status if status >= 0 else 128 - status
            self.trouble = {
                "at": noticed,
                "message": f"{self._spec['launcher']}: {said}",
                "exit": exit_code,
                "tail": lines,
            }
        self._paces = self.watch.paces()
        if self.unsaved and len(good) >= self._expected and not self.survivors and self._stop_at is None:
            self._uploads = Uploads(self._folder, self.attempt, self._containment.tag)  # the attempt is not over before
            return
        self.phase = "ended"
        self._folder.event("ended", attempt=self.attempt, survivors=self.survivors)

    def _tick_uploads(self, uploads: Uploads) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            uploads.stop()
        ended = uploads.look()
        if not ended:
            return False
        self.unsaved = ended["status"] != "done"
        if self.unsaved and self._stop_at is None:
            self.trouble = {
                "at": time.time(),
                "message": ended["why"] or "it was killed",
                "exit": None,
                "tail": [],
                "kind": "upload",
            }
        self.phase = "ended"
        self._folder.event("ended", attempt=self.attempt, survivors=self.survivors)
        return True

    def _end_ranks_first(self, seconds: float) -> None:
        """Before mpirun and its daemons: a daemon that is ended first leaves its ranks to nobody, and says so in every
        rank's stead.
        """
        end = time.monotonic() + seconds
        for record in self.records.values():
            while "exit" not in record and is_alive(record["pid"]) and time.monotonic() < end:
                time.sleep(TICK)
            if "exit" not in record:
                send_signal(record["pid"], signal.SIGKILL, same_rank(record))
        self._wait_for_records()

    def _wait_for_records(self) -> None:
        """A wrapper may still be writing down how its rank ended when the launcher is already gone."""
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            records = self._folder.records(self.attempt).values()
            if not any("exit" not in record and is_alive(record["wrapper"]) for record in records):
                return
            time.sleep(0.02)

    def _complete_records(self, noticed: float) -> None:
        """A rank whose wrapper was killed with it has no exit: say so, and since when it is known."""
        for rank, record in self.records.items():
            if "exit" not in record:
                stopped = self._stop_at is not None
                record.update({"ended": noticed, "exit": 137, "signal": "KILL", "presumed": True, "stopped": stopped})
                write("run.rank", self._folder.attempt(self.attempt) / f"rank-{rank}.json", record)
