"""An attempt of a run, as its leader makes it: all ranks start together, and end together. Who takes part in it, and
whether another one follows, is not said here (gang/leader.py, gang/aftermath.py).
"""

import secrets
import time
from typing import TYPE_CHECKING, List, cast

from flexrack_node.base.stored import or_nothing
from flexrack_node.gang.checkpoints import Checkpoints, reached_of
from flexrack_node.gang.membership import Membership
from flexrack_node.gang.room import Room
from flexrack_node.rank.launch import free_port
from flexrack_node.rank.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run.cause import first_cause, is_complete, of_gang, ranks_of
from flexrack_node.run.files import RunFolder
from flexrack_node.watch.hang import Hangs
from flexrack_node.watch.straggler import report

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, OpenAttempt
    from flexrack_node.schema.result import RunAttempt
    from flexrack_node.schema.runfiles import KeptRunOrder

_STOP_LINK_SECONDS = 4.0  # without a link while stopping: a member that lives connects again every half second
_STOP_PATIENCE = 15.0  # seconds after the grace in which a node must say that its ranks are gone


class Attempts:
    """`run()` for each; `close()` alone for one that a lost leader has begun."""

    def __init__(
        self,
        folder: RunFolder,
        spec: "KeptRunOrder",
        local: LocalRanks,
        membership: Membership,
        checkpoints: Checkpoints,
        hangs: Hangs,
        room: Room,
    ) -> None:
        self._folder, self._spec, self._local = folder, spec, local
        self._membership, self._checkpoints, self._hangs = membership, checkpoints, hangs
        self._room = room

    def run(self, attempts: "List[RunAttempt]", members: List[str], why: str) -> "RunAttempt":
        started, number, address = time.time(), len(attempts) + 1, self._membership.links.address
        for one in attempts:
            one["pace"] = None  # of every rank of every attempt it would be more than fits into a line to the others
        begun = cast("RunAttempt", {"attempt": number, "nodes": members, "started": started, "checkpoint": None})
        nothing: RunAttempt = {
            **begun,
            "status": "failed",
            "clean": True,
            "survivors": {},
            "lost": [],
            "reached": None,
            "steps": None,
        }
        try:
            port = free_port(address)
        except OSError as error:
            return {**nothing, "clean": False, "cause": of_gang(self._membership.own, f"no port to be had: {error}")}
        checkpoint = self._checkpoints.newest(members)
        if checkpoint:
            begun["checkpoint"] = {"name": checkpoint["name"], "node": checkpoint["node"], "at": checkpoint["at"] / 1e9}
        opened: OpenAttempt = {
            "attempt": number,
            "nodes": members,
            "started": started,
            "checkpoint": begun["checkpoint"],
            "why": why,
        }
        self._membership.history = {"attempts": list(attempts), "open": opened}
        if self._spec.get("after_reboot"):
            self._folder.write("history", self._membership.history)
        desired: GangDesired = {"phase": "prepare", "attempt": number, "members": members, "checkpoint": checkpoint}
        problem = self._checkpoints.bring(desired, checkpoint["name"]) if checkpoint else None
        if problem or (checkpoint and (self._membership.stop_request() or self._membership.step_down_cause())):
            self._membership.set_desired({**desired, "phase": "stop", "grace": 0.0})  # nobody begins it any more
            nothing.update(
                {
                    "checkpoint": begun["checkpoint"],
                    "ended": time.time(),
                    "cause": problem,
                    "reached": reached_of(checkpoint),
                }
            )
            if self._membership.stop_request() and not problem:
                nothing["status"] = "stopped"
            return nothing
        self._membership.set_desired(
            {**desired, "phase": "run", "address": address, "port": port, "rendezvous": secrets.token_hex(16)}
        )
        self._folder.write(
            "state", {**self._folder.state(), "status": "running", "attempt": number, "members": members}
        )
        ended, lost = self._watch(number, members)
        return self.close(begun, members, ended, lost, time.time())

    def close(
        self, begun: "RunAttempt", members: List[str], why: str, lost: List[str], stopped_at: float
    ) -> "RunAttempt":
        """Ends an attempt everywhere, where it is not over; `why`: ended|failed|stop|room|lost|stepped down, since
        `stopped_at`. Returns all that is known of it.
        """
        is_meant = why in ("stop", "room")
        number: int = begun["attempt"]
        ranks = ranks_of(members, self._spec["launcher"], self._spec["processes"])
        before = self._membership.observations(members)
        finished = is_complete(before, ranks)
        if why != "ended":
            request = or_nothing(self._membership.stop_request())
            grace = (
                FAILURE_GRACE
                if not is_meant
                else 0.0
                if request.get("kill")
                else float(request.get("grace", self._spec["grace"]))
            )
            self._folder.write("state", {**self._folder.state(), "status": "stopping"})
            unreached = self._stop_all(number, members, grace if is_meant else min(grace, self._spec["grace"]))
            lost = sorted(set(lost) | set(unreached))
        observations = self._membership.observations(members)
        # Where a reaper speaks for a dead supervisor nothing can be started again.
        lost = sorted(set(lost) | {node for node, observed in observations.items() if observed.get("gone")})
        complete = is_complete(observations, ranks)
        survivors = {
            node: observed.get("survivors", []) for node, observed in observations.items() if observed.get("survivors")
        }
        cause = None
        if not is_meant and not complete:
            cause = self._hangs.cause_in(number) or first_cause(
                observations, self._membership.links.clocks, stopped_at if why != "ended" else None, before
            )
            if why == "lost" and (cause is None or cause["at"] > stopped_at):
                cause = of_gang(
                    lost[0],
                    f"the connection to {', '.join(lost)} was lost for more than {self._membership.lost_seconds:.0f} s",
                )
        found = [one for observed in observations.values() for one in [observed.get("checkpoint")] if one]
        return {
            **begun,
            "status": "finished" if complete and (finished or not is_meant) else "stopped" if is_meant else "failed",
            "ended": time.time(),
            "cause": cause,
            "survivors": survivors,
            "lost": lost,
            "clean": not survivors and not lost,
            "pace": report({node: observed.get("paces") or {} for node, observed in observations.items()}),
            "reached": reached_of(max(found, key=lambda one: one["at"]))
            if found
            else {"at": 0}
            if self._spec.get("checkpoint")
            else None,
            "steps": max(
                (steps for observed in observations.values() for steps in [observed.get("steps")] if steps is not None),
                default=None,
            ),
        }

    def _watch(self, number: int, members: List[str]) -> "tuple[str, List[str]]":
        """Until the attempt is over by itself, or must be ended: (ended|failed|stop|room|lost, nodes lost)."""
        while True:
            self._membership.apply()
            changed = self._local.tick()
            if self._membership.stop_request():
                return "stop", []
            if self._membership.step_down_cause():
                return "stepped down", []
            observations = self._membership.observations(members)
            mine = [observed for observed in observations.values() if observed.get("attempt") == number]
            if any(
                observed.get("trouble") or any(record.get("exit") for record in observed["records"].values())
                for observed in mine
            ):
                return "failed", []
            if len(mine) == len(observations) and all(observed["phase"] == "ended" for observed in mine):
                return "ended", []
            lost = [node for node in self._membership.links.lost(self._membership.lost_seconds) if node in members]
            if lost:
                return "lost", lost
            if self._room.must_end():
                return "room", []
            if self._hangs.tick(number, dict(zip(observations, mine)) if len(mine) == len(observations) else {}):
                return "failed", []
            if self._hangs.requested > self._membership.links.desired.get("dump", 0):
                self._membership.set_desired({**self._membership.links.desired, "dump": self._hangs.requested})
            self._membership.gather()
            self._membership.links.poll.pause(changed)

    def _stop_all(self, number: int, members: List[str], grace: float) -> List[str]:
        """Ends the attempt everywhere; returns the nodes that did not say that it is done."""
        self._membership.set_desired(
            {
                "phase": "stop",
                "attempt": number,
                "members": members,
                "grace": grace,
                "quiet": self._local.is_signalled(),
                "requested": self._membership.stop_request(),
            }
        )
        deadline = time.monotonic() + grace + _STOP_PATIENCE
        while time.monotonic() < deadline:
            self._membership.apply()
            self._local.tick()
            request = self._membership.stop_request()
            if request and request.get("kill") and self._membership.links.desired.get("grace"):
                self._membership.set_desired({**self._membership.links.desired, "grace": 0.0})
            waiting = self._membership.unended(number, members)
            if not waiting or all(node in self._membership.links.lost(_STOP_LINK_SECONDS) for node in waiting):
                return waiting
            time.sleep(TICK)
        return self._membership.unended(number, members)
