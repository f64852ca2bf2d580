"""How the members of a gang find a new leader when theirs is lost: one of them asks all others, and leads if more than
half of the run's nodes agree.

More than half of all nodes that the run began with, whatever has become of them: two groups that do not hear each other
can never both have that, and the leader ends its part as soon as so many may have left it (run.rules.outvoted). What
came before goes on from the last word that was heard of it: docs/adr/0016.
"""

import os
import time
from typing import TYPE_CHECKING, List, Optional, Set

from flexrack_node.gang.voter_state import VoterState
from flexrack_node.link.peer import ask_all, place_of
from flexrack_node.rank.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run import rules
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, LeaderPlace, OpenAttempt, PeerQuestion
    from flexrack_node.schema.result import RunAttempt, RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder

_STAGGER = 1.0  # seconds: a node earlier in the pool comes first, the next one only if that does not lead by then
# less than that: who did not vote because it still heard the leader may notice the loss a moment later, and is asked
# again before it tries itself
_AGAIN = 0.5


class Handover:
    """What a new leader begins with."""

    def __init__(self, term: int, leader: str, heard: float, desired: "GangDesired", votes: List[str]) -> None:
        self.term, self.votes = term, votes
        self.leader, self.heard = leader, heard  # who led before, and when its last word came (base.boot.boot_time)
        self.desired = desired  # that word

    @property
    def open(self) -> "OpenAttempt":
        """The attempt that was going on."""
        found = self.desired["history"]["open"]
        assert found is not None
        return found

    @property
    def attempts(self) -> "List[RunAttempt]":
        """Those before it."""
        return [one for one in self.desired["history"]["attempts"] if one["attempt"] < self.open["attempt"]]


class Outcome:
    """Of an election here: `handover` for the one who leads now, `follow` for who has heard of another leader, `result`
    where the run was over already, else `why` not.
    """

    def __init__(
        self,
        handover: Optional[Handover] = None,
        follow: "Optional[LeaderPlace]" = None,
        result: "Optional[RunResult]" = None,
        why: str = "",
    ) -> None:
        self.handover, self.follow, self.result, self.why = handover, follow, result, why


class Election:
    """`hold()` in the member's thread: meanwhile the ranks of the lost gang end."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", local: LocalRanks, voter: VoterState) -> None:
        self._folder, self._spec, self._local, self._voter = folder, spec, local, voter
        self._own, self._secret = spec["node"], spec["gang"]["secret"]

    def hold(self, desired: "GangDesired", leader: str, heard: float, seconds: float) -> Outcome:
        """`heard`: when the leader's last word came; `seconds` in which somebody must be chosen."""
        places = {
            node: place_of(place)
            for node, place in desired.get("places", {}).items()
            if node not in (self._own, leader)
        }
        pool: List[str] = list(self._spec["nodes"])
        needed = rules.majority(pool)
        lost = desired["history"]["lost"]
        turn = (
            [node for node in pool if node != leader and node not in lost].index(self._own)
            if self._own not in lost
            else len(pool)
        )
        ended: Set[str] = set()  # a supervisor that has ended never comes back
        deadline = time.monotonic() + seconds
        again = time.monotonic() + turn * _STAGGER
        while time.monotonic() < deadline:
            self._local.stop(self._local.attempt, FAILURE_GRACE)
            self._local.tick()
            newer = self._voter.newer(desired.get("term", 1))
            if newer:
                return Outcome(follow=newer)
            if time.monotonic() >= again and self._voter.has_vote and not self._voter.is_waiting():
                term = self._voter.next_term()
                question: PeerQuestion = {
                    "vote": {
                        "term": term,
                        "candidate": self._own,
                        "known": [desired.get("term", 1), desired.get("serial", 0)],
                    }
                }
                answers, refused = ask_all(places, question, self._secret, self._own, self._local.tick)
                votes = sorted(
                    [self._own, *(node for node, one in answers.items() if one.get("granted"))], key=pool.index
                )
                over = next((result for one in answers.values() for result in [one.get("result")] if result), None)
                follow = next(
                    (
                        led
                        for one in answers.values()
                        for led in [one.get("follow")]
                        if led and led["term"] > desired.get("term", 1)
                    ),
                    None,
                )
                if over or follow:
                    return Outcome(follow=follow, result=over)
                if any(one.get("out") for one in answers.values()):
                    return Outcome(why=f"the others go on without this node, which {leader} has put out")
                if len(votes) >= needed:
                    self._folder.event("elected", term=term, votes=votes, instead=leader)
                    return Outcome(handover=Handover(term, leader, heard, desired, votes))
                whys = {
                    **{node: one.get("why") for node, one in answers.items()},
                    **dict.fromkeys(refused, "nobody listens there"),
                }
                self._folder.event("not elected", term=term, votes=votes, needed=needed, answers=whys)
                ended |= refused
                if rules.is_left_alone(pool, self._own, leader, lost, ended):
                    return Outcome(
                        why=f"on all other nodes the run is over: no {needed} of {len(pool)} can choose another leader"
                    )
                self._voter.passes(max([0, *(int(one.get("voted") or 0) for one in answers.values())]))
                again = time.monotonic() + _AGAIN + turn * _STAGGER * int.from_bytes(os.urandom(1), "big") / 256
            time.sleep(TICK)
        return Outcome(why=f"no {needed} of the run's {len(pool)} nodes were there to choose another leader")
