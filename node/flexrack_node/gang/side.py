"""One node's side of a gang, the same for its leader and for every member: does what is wanted, and tells how things are here.

    wanted  {phase: wait|prepare|run|stop|judged|end|out, epoch, serial, attempt, members, address, port, rendezvous, checkpoint, ask, grace, quiet, result,
             dump: number of the stacks that are to be taken, keep: checkpoint that some are to have a copy of (gang/copies.py),
             history: {attempts, open, lost}, places: {node: [address, port]}    for who leads next (gang/election.py)}
    view    LocalRanks.view(), Copies.view() and {checkpoint, steps, ready, problem, peer, words}

`checkpoint` is {name, at, bytes, node, place} (link/checkpoint.py; `node` has it, `place` is that node's port) or None; `ask` is {round, places}.
"""
import threading
from pathlib import Path
from typing import Any, Dict, Optional

from flexrack_node.gang.ballot import Ballot
from flexrack_node.gang.copies import Copies
from flexrack_node.link import checkpoint
from flexrack_node.link.gang_link import LinkLost
from flexrack_node.link.peer import PeerPort, Reach, fetch
from flexrack_node.rank.local_ranks import LocalRanks
from flexrack_node.run.files import RunFolder
from flexrack_node.watch.progress import progress_path, read_progress


class Side:
    """`obey()` and `view()` never block for long; copying and asking are done in threads."""

    def __init__(self, folder: RunFolder, spec: Dict[str, Any], local: LocalRanks) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._node, self._secret = spec["node"], spec["gang"]["secret"]
        self._reach = Reach(self._node, self._secret)
        self.ballot = Ballot(self._node)
        self._copies = Copies(folder, spec)
        self._port: Optional[PeerPort] = None
        self._preparing = 0
        self._ready = 0  # the attempt whose checkpoint is here
        self._problem: Optional[Dict[str, Any]] = None
        self._looked = 0
        declared = spec.get("checkpoint")  # there is one before the first attempt where Slurm has started the job again
        self._found: Dict[str, Any] = {"checkpoint": checkpoint.newest(folder.outputs, declared) if declared else None, "steps": None}
        if len(spec["nodes"]) > 1:
            try:
                self._port = PeerPort(spec["address"], self._secret, folder.outputs, self.ballot.answer)
            except OSError as error:
                folder.event("no port", address=spec["address"], why=str(error))  # the others then say `silent` of this node

    def obey(self, wanted: Dict[str, Any]) -> None:
        """Everything but `end` and `out`, which are for who calls this."""
        if wanted.get("ask"):
            self._reach.ask(wanted["ask"]["round"], wanted["ask"]["places"])
        attempt, phase = wanted["attempt"], wanted["phase"]
        is_mine = self._node in wanted.get("members", [])
        if phase == "prepare" and is_mine and self._preparing < attempt and self._local.phase != "running":
            self._prepare(attempt, wanted["checkpoint"])
        elif phase == "run" and is_mine and attempt > self._local.attempt:
            if self._local.phase == "running":  # it missed the stop of the attempt before
                self._local.stop(self._local.attempt, 0.0)
            else:
                self._start(wanted)
        elif phase == "run" and is_mine:
            self._local.watch.dump(wanted.get("dump", 0))
            if self._port and self._local.phase == "running":
                self._copies.look()
        elif phase == "stop":
            self._local.stop(attempt, wanted["grace"], wanted.get("quiet", False))
        keep = wanted.get("keep")
        if keep and phase == "run" and self._node in keep["nodes"]:
            self._copies.keep(keep, is_idle=not is_mine)

    def view(self) -> Dict[str, Any]:
        local = self._local
        if local.phase == "ended" and self._looked < local.attempt:
            self._look(local.attempt)
        found, copy = self._found, self._copies.in_outputs()
        if copy and copy["at"] > (found["checkpoint"] or {"at": 0})["at"]:
            found = {**found, "checkpoint": copy}
        return {
            **local.view(), **self._copies.view(), **found, "ready": self._ready, "problem": self._problem, "words": self._reach.words(),
            "peer": self._port.place if self._port else None,
        }

    def close(self) -> None:
        self._reach.close()
        if self._port:
            self._port.close()

    def _start(self, wanted: Dict[str, Any]) -> None:
        members = wanted["members"]
        found = wanted["checkpoint"]
        gang = {"nodes": members, "index": members.index(self._node), "gang": {**self._spec["gang"], "address": wanted["address"]}}
        self._local.start(wanted["attempt"], wanted["port"], wanted["rendezvous"], gang, self._path_of(found) if found else None)
        self._folder.write("state", {**self._folder.state(), "status": "running", "attempt": wanted["attempt"], "members": members})

    def _prepare(self, attempt: int, wanted: Dict[str, Any]) -> None:
        self._preparing = attempt
        if self._path_of(wanted):
            self._ready = attempt
            return
        threading.Thread(target=self._bring, args=(attempt, wanted), daemon=True).start()

    def _bring(self, attempt: int, wanted: Dict[str, Any]) -> None:
        try:
            fetch(tuple(wanted["place"]), self._secret, self._node, self._folder.outputs, wanted)
            self._folder.event("fetched", checkpoint=wanted["name"], bytes=wanted["bytes"], source=wanted["node"])
            self._ready = attempt
        except (LinkLost, OSError, ValueError, KeyError, TypeError) as error:
            self._problem = {"attempt": attempt, "message": f"{wanted['name']} of {wanted['node']} could not be copied to {self._node}: {error}"}
            self._folder.event("not fetched", checkpoint=wanted["name"], source=wanted["node"], why=str(error))

    def _path_of(self, wanted: Dict[str, Any]) -> Optional[Path]:
        """Where this very checkpoint is for this node: its own, or under Slurm, where run folders are shared, that of the node which wrote it."""
        if checkpoint.has(self._folder.outputs, wanted):
            return self._folder.outputs / str(wanted["name"])
        if self._spec.get("scheduler") == "slurm":
            shared = self._folder.path.parent / str(self._spec["nodes"].index(wanted["node"])) / "outputs"
            if checkpoint.has(shared, wanted):
                return Path(shared, wanted["name"])
        return None

    def _look(self, attempt: int) -> None:
        """Once after each attempt, when nothing writes any more."""
        self._looked = attempt
        declared = self._spec.get("checkpoint")
        found = self._copies.adopt(self._folder.outputs, checkpoint.newest(self._folder.outputs, declared)) if declared else None
        self._found = {"checkpoint": found, "steps": steps_of(self._folder, attempt)}


def steps_of(folder: RunFolder, attempt: int) -> Optional[int]:
    """The most steps that a rank of an attempt here has told of; None where none tells any."""
    told = [read_progress(progress_path(folder.attempt(attempt), rank)) for rank in folder.records(attempt)]
    return max((int(one["steps"]) for one in told if one and one.get("pid")), default=None)
