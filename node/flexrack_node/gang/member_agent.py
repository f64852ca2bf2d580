"""One node's agent in a gang, the same for its leader and for every member: brings about the desired state, and reports
the observed one.

Both are in protocol/gang.json: GangDesired, GangObserved.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Optional

from flexrack_node.gang.copies import Copies
from flexrack_node.gang.voter_state import VoterState
from flexrack_node.lineage.here import here
from flexrack_node.link import checkpoint
from flexrack_node.link.gang_link import LinkLost
from flexrack_node.link.peer import PeerPort, Reach, fetch, place_of
from flexrack_node.rank.local_ranks import LocalRanks
from flexrack_node.run.files import RunFolder
from flexrack_node.watch.progress import progress_path, read_progress

if TYPE_CHECKING:
    from flexrack_node.schema.gang import CheckpointFound, CheckpointSource, FetchProblem, GangDesired, GangObserved
    from flexrack_node.schema.runfiles import KeptRunOrder


class MemberAgent:
    """`apply()` and `observed()` never block for long; copying and asking are done in threads."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", local: LocalRanks, port: int = 0) -> None:
        """`port`: that the others know, after a reboot."""
        self._folder, self._spec, self._local = folder, spec, local
        self._node, self._secret = spec["node"], spec["gang"]["secret"]
        self._reach = Reach(self._node, self._secret)
        self.voter = VoterState(self._node)
        self._copies = Copies(folder, spec)
        self._port: Optional[PeerPort] = None
        self._preparing = 0
        self._ready = 0  # the attempt whose checkpoint is here
        self._problem: Optional[FetchProblem] = None
        self._looked = 0
        # there is one before the first attempt where the run goes on after a reboot, or Slurm has started the job again
        declared = spec.get("checkpoint")
        self._found: Optional[CheckpointFound] = checkpoint.newest(folder.outputs, declared) if declared else None
        self._steps: Optional[int] = None
        self._here = here(spec)
        if len(spec["nodes"]) > 1:
            try:
                self._port = PeerPort(spec["address"], self._secret, folder.outputs, self.voter.answer, port)
            except OSError as error:
                # the others then say `silent` of this node
                folder.event("no port", address=spec["address"], why=str(error))

    def apply(self, desired: "GangDesired") -> None:
        """Everything but `end` and `out`, which are for who calls this."""
        asked = desired.get("ask")
        if asked:
            self._reach.ask(asked["round"], asked["places"])
        if self._local.seat:
            self._local.seat.apply(desired.get("room"))
        attempt, phase = desired["attempt"], desired["phase"]
        is_mine = self._node in desired.get("members", [])
        needed = desired.get("checkpoint")
        if phase == "prepare" and needed and is_mine and self._preparing < attempt and self._local.phase != "running":
            self._prepare(attempt, needed)
        elif phase == "run" and is_mine and attempt > self._local.attempt:
            if self._local.phase == "running":  # it missed the stop of the attempt before
                self._local.stop(self._local.attempt, 0.0)
            else:
                self._start(desired)
        elif phase == "run" and is_mine:
            self._local.watch.dump(desired.get("dump", 0))
            if self._port and self._local.phase == "running":
                self._copies.look()
        elif phase == "stop":
            self._local.stop(attempt, desired["grace"], desired.get("quiet", False))
        keep = desired.get("keep")
        if keep and phase == "run" and self._node in keep["nodes"]:
            self._copies.keep(keep, is_idle=not is_mine)

    def observed(self) -> "GangObserved":
        local = self._local
        if local.phase == "ended" and self._looked < local.attempt:
            self._look(local.attempt)
        found, copy = self._found, self._copies.in_outputs()
        if copy and (not found or copy["at"] > found["at"]):
            found = copy
        return {
            **local.observed(),
            **self._copies.observed(),
            "checkpoint": found,
            "steps": self._steps,
            "ready": self._ready,
            "problem": self._problem,
            "words": self._reach.words(),
            "here": self._here,
            **({"room": self._local.seat.observed()} if self._local.seat and self._spec.get("preemptible") else {}),
            "has": self._local.seat.has() if self._local.seat else None,
            "peer": list(self._port.place) if self._port else None,
        }

    def close(self) -> None:
        self._reach.close()
        if self._port:
            self._port.close()

    def _start(self, desired: "GangDesired") -> None:
        members = desired["members"]
        found = desired["checkpoint"]
        gang = {
            "nodes": members,
            "index": members.index(self._node),
            "gang": {**self._spec["gang"], "address": desired["address"]},
        }
        self._local.start(
            desired["attempt"], desired["port"], desired["rendezvous"], gang, self._path_of(found) if found else None
        )
        self._folder.write(
            "state", {**self._folder.state(), "status": "running", "attempt": desired["attempt"], "members": members}
        )

    def _prepare(self, attempt: int, needed: "CheckpointSource") -> None:
        self._preparing = attempt
        if self._path_of(needed):
            self._ready = attempt
            return
        threading.Thread(target=self._bring, args=(attempt, needed), daemon=True).start()

    def _bring(self, attempt: int, needed: "CheckpointSource") -> None:
        try:
            fetch(place_of(needed["place"]), self._secret, self._node, self._folder.outputs, needed)
            self._folder.event("fetched", checkpoint=needed["name"], bytes=needed["bytes"], source=needed["node"])
            self._ready = attempt
        except (LinkLost, OSError, ValueError, KeyError, TypeError) as error:
            self._problem = {
                "attempt": attempt,
                "message": f"{needed['name']} of {needed['node']} could not be copied to {self._node}: {error}",
            }
            self._folder.event("not fetched", checkpoint=needed["name"], source=needed["node"], why=str(error))

    def _path_of(self, needed: "CheckpointSource") -> Optional[Path]:
        """Where this very checkpoint is for this node: its own, or under Slurm, where run folders are shared, that of
        the node which wrote it.
        """
        if checkpoint.has(self._folder.outputs, needed):
            return self._folder.outputs / str(needed["name"])
        if self._spec.get("scheduler") == "slurm":
            shared = self._folder.path.parent / str(self._spec["nodes"].index(needed["node"])) / "outputs"
            if checkpoint.has(shared, needed):
                return Path(shared, needed["name"])
        return None

    def _look(self, attempt: int) -> None:
        """Once after each attempt, when nothing writes any more."""
        self._looked = attempt
        declared = self._spec.get("checkpoint")
        self._found = (
            self._copies.adopt(self._folder.outputs, checkpoint.newest(self._folder.outputs, declared))
            if declared
            else None
        )
        self._steps = steps_of(self._folder, attempt)


def steps_of(folder: RunFolder, attempt: int) -> Optional[int]:
    """The most steps that a rank of an attempt here has reported; None where none reports any."""
    reported = [read_progress(progress_path(folder.attempt(attempt), rank)) for rank in folder.records(attempt)]
    return max((int(one["steps"]) for one in reported if one and one.get("pid")), default=None)
