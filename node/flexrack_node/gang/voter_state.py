"""What one node of a gang says when another wants to lead: a vote once in each term, and never against a leader that it
still hears.

A term is the time of one leader; its number only grows. Questions come to the node's port (link/peer.py), from anybody
who knows the run's secret: PeerQuestion in protocol/gang.json. Who has heard a newer word of a leader than the
candidate (`known`) does not vote for it, because an attempt, or the end, would be forgotten. Votes are kept in memory
only. A supervisor that has died comes back after a reboot alone, and then it has no vote in a gang that went on, so
nobody can vote twice.
"""

import threading
import time
from typing import TYPE_CHECKING, Dict, Optional, Tuple

if TYPE_CHECKING:
    from flexrack_node.schema.gang import Candidacy, GangDesired, GangObserved, LeaderPlace, PeerAnswer, PeerQuestion

_ANNOUNCE_SECONDS = 4.0  # for whom we have voted to say that it leads, before we try ourselves


class VoterState:
    """May be asked from any thread."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._voted: Tuple[int, Optional[str]] = (1, None)
        self._granted_at = float("-inf")
        self._term = 1  # of the leader that is followed
        self._desired: GangDesired = {"phase": "wait", "attempt": 0, "term": 1, "serial": 0}
        self._leaderless = False
        self._newest: Optional[LeaderPlace] = None  # the newest leader that was announced
        self._gone: Dict[str, GangObserved] = {}
        self.has_vote = True
        # the newest term and leader that it knew, while it looks for its gang after a reboot
        self._back: Optional[Tuple[int, str]] = None
        self._leads: Optional[LeaderPlace] = None
        self._returning: Dict[str, str] = {}  # nodes that look for their gang, and in which boot of theirs
        self._welcome: Dict[str, str] = {}

    def comes_back(self, term: int, leader: str) -> None:
        """This node was rebooted, and looks for its gang."""
        with self._lock:
            self._back = (term, leader)

    def leads(self, place: "LeaderPlace") -> None:
        """This node leads: {term, leader, address, port, anew}; `anew`: it began to after a reboot of all."""
        with self._lock:
            self._leads, self._back = place, None

    def follows(self, has_vote: bool) -> None:
        """It has found its gang. `has_vote`: nobody of it can have voted before."""
        with self._lock:
            self._back, self.has_vote = None, has_vote

    def returning(self) -> Dict[str, str]:
        """Nodes that have come back after a reboot, and are not welcome yet: with their boot."""
        with self._lock:
            return {node: boot for node, boot in self._returning.items() if self._welcome.get(node) != boot}

    def welcomes(self, node: str, boot: str) -> None:
        with self._lock:
            self._welcome[node] = boot
            self._gone.pop(node, None)

    def knows(self, desired: "GangDesired", leaderless: bool) -> None:
        """What this node has heard last, and whether it has given its leader up. Called again and again."""
        with self._lock:
            self._desired, self._leaderless = {**desired}, leaderless
            self._term = max(self._term, desired.get("term", 1))

    def newer(self, term: int) -> "Optional[LeaderPlace]":
        """The leader of a later term, {term, leader, address, port}, where one was announced."""
        with self._lock:
            return self._newest if self._newest and self._newest["term"] > term else None

    def gone(self) -> "Dict[str, GangObserved]":
        """By node: the last word of reapers whose supervisors are dead."""
        with self._lock:
            return dict(self._gone)

    def is_waiting(self) -> bool:
        """It has just voted for another node, which may be about to lead."""
        with self._lock:
            return time.monotonic() - self._granted_at < _ANNOUNCE_SECONDS

    def next_term(self) -> int:
        """For a candidate: the one in which it has voted for itself already, or the next one in which it can. It has
        voted for itself then.
        """
        with self._lock:
            term, candidate = self._voted
            if candidate != self._node or term <= self._term:
                self._voted = (max(term, self._term) + 1, self._node)
            return self._voted[0]

    def passes(self, term: int) -> None:
        """Another node has voted for somebody else in this term: the next try is in a later one."""
        with self._lock:
            if term >= self._voted[0]:
                self._voted = (term, None)

    def answer(self, question: "PeerQuestion") -> "Optional[PeerAnswer]":
        """The answer to another node; None to what is no question for this."""
        with self._lock:
            if "vote" in question:
                return self._vote(question["vote"])
            if "follow" in question:
                announced = question["follow"]
                if announced["term"] > max(self._term, self._newest["term"] if self._newest else 0):
                    self._newest = {
                        "term": announced["term"],
                        "leader": announced["leader"],
                        "address": announced["address"],
                        "port": announced["port"],
                    }
                    self._voted = max(self._voted, (int(announced["term"]), None), key=lambda one: one[0])
                return {"term": self._term}
            if "gone" in question:
                self._gone[question["gone"]["node"]] = question["gone"]["observed"]
                return {"term": self._term}
            if "returned" in question:
                return self._tell(str(question["returned"]["node"]), str(question["returned"]["boot"]))
        return None

    def _tell(self, node: str, boot: str) -> "PeerAnswer":
        if self._back:
            return {"returned": list(self._back)}
        if not self._leads:
            return {"term": self._term}
        self._returning[node] = boot
        return {"leads": self._leads, "welcome": self._welcome.get(node) == boot}

    def _vote(self, question: "Candidacy") -> "PeerAnswer":
        term, candidate, known = int(question["term"]), str(question["candidate"]), question["known"]
        why = self._objection(term, candidate, (known[0], known[1]))
        if not why:
            self._voted, self._granted_at = (term, candidate), time.monotonic()
        is_over = self._desired["phase"] in ("committed", "end")
        return {
            "granted": not why,
            "why": why,
            "voted": self._voted[0] if self._voted[1] != candidate else 0,
            "out": self._is_out(candidate),
            "result": self._desired.get("result") if is_over else None,
            "follow": self._newest,
        }

    def _objection(self, term: int, candidate: str, known: Tuple[int, int]) -> Optional[str]:
        if not self.has_vote:
            return "it was rebooted, and may have voted before"
        if term <= self._term:
            return "a newer leader is followed"
        if not self._leaderless:
            return "the leader is heard"
        if self._voted[0] > term or (self._voted[0] == term and self._voted[1] != candidate):
            return "voted already"
        if (self._desired.get("term", 1), self._desired.get("serial", 0)) > known:
            return "a newer word was heard"
        return "it was put out" if self._is_out(candidate) else None

    def _is_out(self, node: str) -> bool:
        history = self._desired.get("history")
        return history is not None and node in history.get("lost", {})
