"""Makes one gang of the supervisors of a run: all start together, and one failure ends it everywhere.

The protocol is a state, not a conversation. The leader (the run's first node, or who was chosen in its place:
gang/election.py) tells every member what state is desired, each member tells the leader how things are on its node;
both say it again after every change and every reconnection. So a lost link needs no memory of what was said before.
What is in both: protocol/gang.json.

Not every supervisor takes part in every attempt: the run's nodes are a pool, and an attempt has the first of them that
can be used, as many as the run is to have (run/rules.py). The others are idle. docs/adr/0016 says what happens when a
node is lost, and when.
"""

import time
from typing import TYPE_CHECKING, Dict, List, Optional, cast

from flexrack_node.base.boot import boot_time
from flexrack_node.base.stored import or_nothing
from flexrack_node.gang.aftermath import Aftermath, Next
from flexrack_node.gang.attempts import Attempts
from flexrack_node.gang.checkpoints import Checkpoints
from flexrack_node.gang.election import Handover
from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.gang.membership import Membership
from flexrack_node.gang.room import TOO_FEW, Room
from flexrack_node.link.gang_link import SILENT_SECONDS
from flexrack_node.link.peer import ask_all, place_of
from flexrack_node.rank.local_ranks import TICK, LocalRanks
from flexrack_node.run.cause import of_gang, of_loss
from flexrack_node.run.files import RunFolder
from flexrack_node.run.resumption import NO_CHECKPOINT, needs_checkpoint
from flexrack_node.watch.hang import Hangs

if TYPE_CHECKING:
    from flexrack_node.schema.gang import PeerQuestion
    from flexrack_node.schema.record import NodeHere
    from flexrack_node.schema.result import GangOutcome, RunAttempt, RunResult
    from flexrack_node.schema.run import GangPlace
    from flexrack_node.schema.runfiles import KeptRunOrder, MemberPlace, StopRequest

# for everybody to come to a new leader; who still believed in the old one has noticed by then
_HEIR_SECONDS = SILENT_SECONDS + 3.0
_ANNOUNCE_SECONDS = 1.0


class Leader:
    """Runs on one node. `listen()` first, then `run()`, `commit(result)` as soon as there is one, then `end(result)`."""

    def __init__(
        self,
        folder: RunFolder,
        spec: "KeptRunOrder",
        local: LocalRanks,
        agent: Optional[MemberAgent] = None,
        handover: Optional[Handover] = None,
        term: int = 1,
    ) -> None:
        """`agent`, `handover`: of the member that this node was before; `term` more than 1: it leads the run after a
        reboot.
        """
        self._folder, self._spec, self._local, self._handover = folder, spec, local, handover
        self._membership = Membership(folder, spec, local, agent, handover, term)
        self._is_back = not handover and bool(folder.state().get("returned"))
        self._aftermath = Aftermath(folder, spec, self._membership, local)
        self._checkpoints = Checkpoints(folder, self._membership)
        self._hangs = Hangs(folder, spec, handover.desired.get("dump", 0) if handover else 0)
        self._room = Room(folder, spec, local, self._membership)
        self._attempts = Attempts(folder, spec, local, self._membership, self._checkpoints, self._hangs, self._room)

    def listen(self) -> None:
        """Opens the gang's port, where there are members. Raises OSError."""
        place: GangPlace = {"address": self._membership.links.address, "port": self._membership.links.listen()}
        self._folder.write(
            "state",
            {**self._folder.state(), "gang": place, "term": self._membership.term, "leader": self._membership.own},
        )
        self._membership.agent.voter.leads(
            {**place, "term": self._membership.term, "leader": self._membership.own, "anew": self._is_back}
        )

    def run(self) -> "GangOutcome":
        """All attempts; returns {status: finished|failed|stopped, cause, attempts}, and `partial` where others lead the
        run by now.
        """
        attempts: List[RunAttempt] = list(self._spec.get("attempts") or [])  # of a job of Slurm that was started before
        outcome: Optional[RunAttempt] = None
        if self._handover:
            attempts, members, why = self._handover.attempts, self._handover.open["nodes"], self._handover.open["why"]
            outcome = self._inherit(self._handover)
        else:
            missing = self._wait_for_all()
            found = self._membership.next_members()
            if self._membership.stop_request():
                return {"status": "stopped", "cause": None, "attempts": attempts}
            if not found:
                seconds = self._spec["gang"].get("timeout", 60)
                message = f"{', '.join(missing)} did not join the gang within {seconds} s"
                return {"status": "failed", "cause": of_gang(missing[0], message), "attempts": attempts}
            if self._is_back and needs_checkpoint(self._folder, attempts) and not self._checkpoints.newest(found):
                return {
                    "status": "failed",
                    "cause": of_loss(
                        self._membership.own,
                        "reboot",
                        f"{self._membership.own} was rebooted; the run does not go on: {NO_CHECKPOINT}",
                    ),
                    "attempts": attempts,
                }
            members, pool = found, self._membership.pool
            why = (
                attempts[-1].get("changes") or f"{self._membership.own} was rebooted"
                if attempts
                else "start"
                if len(members) == len(pool)
                else f"start with {len(members)} of {len(pool)} nodes"
            )
        self._room.begin()
        while True:
            outcome = outcome or self._attempts.run(attempts, members, why)
            outcome["why"] = why
            attempts.append(outcome)
            has_made_room = self._has_made_room(outcome)
            verdict = (
                Next(members, "its turn again")
                if has_made_room
                else self._aftermath.decide(attempts, members)
                if outcome["status"] == "failed"
                and not self._hangs.is_final(len(attempts))
                and not is_of_uploads(outcome)
                else None
            )
            ended = self._stepped_down(attempts)
            if ended:
                return ended
            if not verdict:
                return {"status": outcome["status"], "cause": outcome["cause"], "attempts": attempts}
            members, why, outcome = verdict.members, verdict.why, None
            if has_made_room or self._room.is_given():
                gone = self._room.come_back()
                ended = self._stepped_down(attempts)
                if ended:
                    return ended
                if self._membership.stop_request():
                    return {"status": "stopped", "cause": None, "attempts": attempts}
                found = self._membership.next_members()
                if gone or not found:
                    why = gone or TOO_FEW
                    message = f"the run made room for {self._room.made_for}, and does not come back: {why}"
                    cause = of_gang(self._membership.own, message)
                    return {"status": "failed", "cause": cause, "attempts": attempts}
                members = found
            self._folder.event("restarting", attempt=len(attempts) + 1, why=why, nodes=members)

    def _stepped_down(self, attempts: "List[RunAttempt]") -> "Optional[GangOutcome]":
        """What is left to say here where others lead the run by now, or may."""
        cause = self._membership.step_down_cause()
        if not cause:
            return None
        self._folder.event("stepped down", why=cause["message"])
        return {"status": "failed", "cause": cause, "attempts": attempts, "partial": True}

    def _has_made_room(self, outcome: "RunAttempt") -> bool:
        """Whether the attempt was ended for another run, and this one is to come back; then it uses up no restart."""
        if not self._room.has_ended or outcome["status"] != "stopped":
            return False
        if self._membership.stop_request() or outcome["survivors"]:
            return False
        outcome["changes"] = f"made room for {self._room.made_for}"
        return True

    def stop_request(self) -> "Optional[StopRequest]":
        """Who asked for the end, if somebody did."""
        return self._membership.stop_request()

    def nodes_here(self) -> "List[NodeHere]":
        """The nodes of the run as they found themselves, but for those that have not said it."""
        said = [self._membership.observed(node).get("here") for node in self._membership.pool]
        return [one for one in said if one]

    def commit(self, result: "RunResult") -> None:
        """From here on the others know how it ended, also if this node is lost before all is put away."""
        self._room.close()
        self._membership.set_desired({"phase": "committed", "attempt": self._local.attempt, "result": result})

    def end(self, result: "RunResult", patience: float) -> bool:
        """Tells everybody the result; True where every member has said that its tracking writes are through."""
        self._membership.set_desired({"phase": "end", "attempt": self._local.attempt, "result": result})
        deadline = time.monotonic() + patience
        members = self._membership.others
        waiting = [node for node in members if node not in self._membership.links.out()]
        while time.monotonic() < deadline and not all(self._membership.observed(node).get("done") for node in waiting):
            if all(
                node not in self._membership.links.here() and not self._membership.observed(node).get("done")
                for node in waiting
            ):
                break
            time.sleep(TICK)
        self._membership.close()
        return all(self._membership.observed(node).get("drained") for node in members)

    def leave(self) -> None:
        """Without a word: who is still connected finds another leader, if there is none yet."""
        self._membership.close()
        self._membership.links.drop()

    def _inherit(self, handover: Handover) -> "RunAttempt":
        """Ends what the lost leader had begun, with whoever comes."""
        membership, begun = (
            self._membership,
            cast("RunAttempt", {key: value for key, value in handover.open.items() if key != "why"}),
        )
        membership.history = {"attempts": handover.attempts, "open": handover.open}
        places: Dict[str, MemberPlace] = handover.desired["places"]
        for node, loss in handover.desired["history"]["lost"].items():
            membership.lost[node] = loss
            membership.links.put_out(node)
        membership.agent.voter.knows(membership.links.desired, False)
        waiting = [node for node in membership.others if node not in membership.lost]
        for node in waiting:
            former = node == handover.leader
            membership.links.expect(
                node, handover.heard if former else boot_time(), {"peer": places.get(node), "skipped": 0}
            )
        # who comes knows what was before, should we be lost, too
        membership.set_desired({"phase": "wait", "attempt": begun["attempt"]})
        gang = or_nothing(self._folder.state()["gang"])
        announcement: PeerQuestion = {
            "follow": {
                "term": membership.term,
                "leader": membership.own,
                "address": gang["address"],
                "port": gang["port"],
            }
        }
        deadline, again = time.monotonic() + _HEIR_SECONDS, 0.0
        while time.monotonic() < deadline and any(
            not membership.has_said(node) for node in waiting if node != handover.leader
        ):
            self._local.tick()
            if time.monotonic() >= again:
                away = {
                    node: place_of(places[node])
                    for node in waiting
                    if node in places and node not in membership.links.here()
                }
                ask_all(away, announcement, self._spec["gang"]["secret"], membership.own, self._local.tick)
                again = time.monotonic() + _ANNOUNCE_SECONDS
            time.sleep(TICK)
        why = "stop" if handover.desired.get("requested") else "lost"
        return self._attempts.close(
            begun, begun["nodes"], why, [handover.leader], time.time() - (boot_time() - handover.heard)
        )

    def _wait_for_all(self) -> List[str]:
        """Returns the nodes that are still missing when the time is over."""
        deadline = time.monotonic() + self._spec["gang"].get("timeout", 60)
        while True:
            self._membership.take_back()
            missing = [
                node
                for node in self._membership.others
                if node not in self._membership.links.here() or (self._is_back and not self._membership.observed(node))
            ]
            if not missing or time.monotonic() > deadline or self._membership.stop_request():
                return missing
            time.sleep(TICK)


def is_of_uploads(attempt: "RunAttempt") -> bool:
    """The ranks have done their work: to start them again would not help."""
    return or_nothing(attempt.get("cause")).get("kind") == "upload"
