"""What one node of a gang says when another wants to lead: a vote once in each epoch, and never against a leader that it still hears.

An epoch is the time of one leader; its number only grows. Questions come to the node's port (link/peer.py), from anybody who knows the run's secret:

    {vote: {epoch, candidate, known: [epoch, serial]}}   ->   {granted: bool, voted: epoch, why, out: bool, result, follow}
    {follow: {epoch, leader, address, port}}             ->   {epoch}
    {gone: {node, view}}                                 ->   {epoch}        a warden's word: the supervisor there is dead

`known` is the newest word of a leader that the candidate has heard: who has heard a newer one does not vote for it, because an attempt, or the end, would be forgotten.
Votes are kept in memory only: a supervisor that has died never comes back, so nobody can vote twice.
"""
import threading
import time
from typing import Any, Dict, Mapping, Optional, Tuple

_ANNOUNCE_SECONDS = 4.0  # for whom we have voted to say that it leads, before we try ourselves


class Ballot:
    """May be asked from any thread."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._voted: Tuple[int, Optional[str]] = (1, None)
        self._granted_at = float("-inf")
        self._epoch = 1  # of the leader that is followed
        self._wanted: Dict[str, Any] = {"phase": "wait", "epoch": 1, "serial": 0}
        self._leaderless = False
        self._newest: Optional[Dict[str, Any]] = None  # the newest leader that was announced
        self._gone: Dict[str, Dict[str, Any]] = {}

    def knows(self, wanted: Mapping[str, Any], leaderless: bool) -> None:
        """What this node has heard last, and whether it has given its leader up. Called again and again."""
        with self._lock:
            self._wanted, self._leaderless = dict(wanted), leaderless
            self._epoch = max(self._epoch, wanted.get("epoch", 1))

    def newer(self, epoch: int) -> Optional[Dict[str, Any]]:
        """The leader of a later epoch, {epoch, leader, address, port}, where one was announced."""
        with self._lock:
            return self._newest if self._newest and self._newest["epoch"] > epoch else None

    def gone(self) -> Dict[str, Dict[str, Any]]:
        """By node: the last word of wardens whose supervisors are dead."""
        with self._lock:
            return dict(self._gone)

    def is_waiting(self) -> bool:
        """It has just voted for another node, which may be about to lead."""
        with self._lock:
            return time.monotonic() - self._granted_at < _ANNOUNCE_SECONDS

    def next_epoch(self) -> int:
        """For a candidate: the one in which it has voted for itself already, or the next one in which it can. It has voted for itself then."""
        with self._lock:
            epoch, candidate = self._voted
            if candidate != self._node or epoch <= self._epoch:
                self._voted = (max(epoch, self._epoch) + 1, self._node)
            return self._voted[0]

    def passes(self, epoch: int) -> None:
        """Another node has voted for somebody else in this epoch: the next try is in a later one."""
        with self._lock:
            if epoch >= self._voted[0]:
                self._voted = (epoch, None)

    def answer(self, asked: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """The answer to another node; None to what is no question for this."""
        with self._lock:
            if "vote" in asked:
                return self._vote(asked["vote"])
            if "follow" in asked:
                told = asked["follow"]
                if told["epoch"] > max(self._epoch, (self._newest or {"epoch": 0})["epoch"]):
                    self._newest = {key: told[key] for key in ("epoch", "leader", "address", "port")}
                    self._voted = max(self._voted, (int(told["epoch"]), None), key=lambda one: one[0])
                return {"epoch": self._epoch}
            if "gone" in asked:
                self._gone[asked["gone"]["node"]] = asked["gone"]["view"]
                return {"epoch": self._epoch}
        return None

    def _vote(self, asked: Mapping[str, Any]) -> Dict[str, Any]:
        epoch, candidate = int(asked["epoch"]), str(asked["candidate"])
        why = self._objection(epoch, candidate, tuple(asked["known"]))
        if not why:
            self._voted, self._granted_at = (epoch, candidate), time.monotonic()
        is_over = self._wanted["phase"] in ("judged", "end")
        return {
            "granted": not why, "why": why, "voted": self._voted[0] if self._voted[1] != candidate else 0,
            "out": candidate in (self._wanted.get("history") or {}).get("lost", {}),
            "result": self._wanted.get("result") if is_over else None,
            "follow": self._newest,
        }

    def _objection(self, epoch: int, candidate: str, known: Tuple[Any, ...]) -> Optional[str]:
        if epoch <= self._epoch:
            return "a newer leader is followed"
        if not self._leaderless:
            return "the leader is heard"
        if self._voted[0] > epoch or (self._voted[0] == epoch and self._voted[1] != candidate):
            return "voted already"
        if (self._wanted.get("epoch", 1), self._wanted.get("serial", 0)) > known:
            return "a newer word was heard"
        if candidate in (self._wanted.get("history") or {}).get("lost", {}):
            return "it was put out"
        return None
