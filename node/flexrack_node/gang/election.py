"""How the members of a gang find a new leader when theirs is lost: one of them asks all others, and leads if more than half of the run's nodes agree.

More than half of all nodes that the run began with, whatever has become of them: two groups that do not hear each other can never both have that, and the
leader ends its part as soon as so many may have left it (run.rules.outvoted). What came before goes on from the last word that was heard of it: docs/adr/0016.
"""
import os
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Set

from flexrack_node.gang.voter_state import VoterState
from flexrack_node.link.peer import ask_all
from flexrack_node.rank.local_ranks import FAILURE_GRACE, TICK, LocalRanks
from flexrack_node.run import rules
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import RunAttempt, RunResult

_STAGGER = 1.0  # seconds: a node earlier in the pool comes first, the next one only if that does not lead by then
_AGAIN = 0.5  # less than that: who did not vote because it still heard the leader may notice the loss a moment later, and is asked again before it tries itself


class Handover:
    """What a new leader begins with."""

    def __init__(self, term: int, leader: str, heard: float, desired: Dict[str, Any], votes: List[str]) -> None:
        self.term, self.votes = term, votes
        self.leader, self.heard = leader, heard  # who led before, and when its last word came (link.gang_link.boot_time)
        self.desired = desired  # that word

    @property
    def open(self) -> Dict[str, Any]:
        """The attempt that was going on: {attempt, nodes, started, checkpoint, why}."""
        found: Dict[str, Any] = self.desired["history"]["open"]
        return found

    @property
    def attempts(self) -> "List[RunAttempt]":
        """Those before it."""
        return [one for one in self.desired["history"]["attempts"] if one["attempt"] < self.open["attempt"]]


class Outcome:
    """Of an election here: `handover` for the one who leads now, `follow` for who has heard of another leader, `result` where the run was over already, else `why` not."""

    def __init__(self, handover: Optional[Handover] = None, follow: Optional[Dict[str, Any]] = None, result: "Optional[RunResult]" = None, why: str = "") -> None:
        self.handover, self.follow, self.result, self.why = handover, follow, result, why


class Election:
    """`hold()` in the member's thread: meanwhile the ranks of the lost gang end."""

    def __init__(self, folder: RunFolder, spec: Mapping[str, Any], local: LocalRanks, voter: VoterState) -> None:
        self._folder, self._spec, self._local, self._voter = folder, spec, local, voter
        self._own, self._secret = spec["node"], spec["gang"]["secret"]

    def hold(self, desired: Dict[str, Any], leader: str, heard: float, seconds: float) -> Outcome:
        """`heard`: when the leader's last word came; `seconds` in which somebody must be chosen."""
        places = {node: (place[0], place[1]) for node, place in desired.get("places", {}).items() if node not in (self._own, leader)}
        pool: List[str] = list(self._spec["nodes"])
        needed = rules.majority(pool)
        lost = desired["history"]["lost"]
        turn = [node for node in pool if node != leader and node not in lost].index(self._own) if self._own not in lost else len(pool)
        ended: Set[str] = set()  # a supervisor that has ended never comes back
        deadline = time.monotonic() + seconds
        again = time.monotonic() + turn * _STAGGER
        while time.monotonic() < deadline:
            self._local.stop(self._local.attempt, FAILURE_GRACE)
            self._local.tick()
            newer = self._voter.newer(desired.get("term", 1))
            if newer:
                return Outcome(follow=newer)
            if time.monotonic() >= again and not self._voter.is_waiting():
                term = self._voter.next_term()
                question = {"vote": {"term": term, "candidate": self._own, "known": [desired.get("term", 1), desired.get("serial", 0)]}}
                answers = ask_all(places, question, self._secret, self._own, self._local.tick)
                votes = sorted([self._own, *(node for node, one in answers.items() if one.get("granted"))], key=pool.index)
                over = next((one["result"] for one in answers.values() if one.get("result")), None)
                follow = next((one["follow"] for one in answers.values() if (one.get("follow") or {"term": 0})["term"] > desired.get("term", 1)), None)
                if over or follow:
                    return Outcome(follow=follow, result=over)
                if any(one.get("out") for one in answers.values()):
                    return Outcome(why=f"the others go on without this node, which {leader} has put out")
                if len(votes) >= needed:
                    self._folder.event("elected", term=term, votes=votes, instead=leader)
                    return Outcome(handover=Handover(term, leader, heard, desired, votes))
                whys = {node: "nobody listens there" if one.get("refused") else one.get("why") for node, one in answers.items()}
                self._folder.event("not elected", term=term, votes=votes, needed=needed, answers=whys)
                ended |= {node for node, one in answers.items() if one.get("refused")}
                if rules.is_left_alone(pool, self._own, leader, lost, ended):
                    return Outcome(why=f"on all other nodes the run is over: no {needed} of {len(pool)} can choose another leader")
                self._voter.passes(max([0, *(int(one.get("voted") or 0) for one in answers.values())]))
                again = time.monotonic() + _AGAIN + turn * _STAGGER * int.from_bytes(os.urandom(1), "big") / 256
            time.sleep(TICK)
        return Outcome(why=f"no {needed} of the run's {len(pool)} nodes were there to choose another leader")
