"""The nodes of a run as their leader sees them: the state it desires of them, what they report, who of them can be
used.
"""

import time
from typing import TYPE_CHECKING, Dict, Iterable, List, Optional, Sequence, Set

from flexrack_node.gang.copies import choose, copies_of
from flexrack_node.gang.election import Handover
from flexrack_node.gang.evidence import Evidence
from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.gang.member_links import MemberLinks
from flexrack_node.gang.time_limit import TimeLimit
from flexrack_node.link.gang_link import BEAT_SECONDS, SILENT_SECONDS, Sleep
from flexrack_node.rank.local_ranks import LocalRanks
from flexrack_node.run import rules
from flexrack_node.run.cause import of_gang
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import may_be_led_on

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, GangHistory, GangObserved, LaunchTrouble, NodeLoss
    from flexrack_node.schema.order import GangSize
    from flexrack_node.schema.result import Cause
    from flexrack_node.schema.runfiles import KeptRunOrder, MemberPlace, StopRequest

LOST_SECONDS = 30.0  # without a member before the attempt is given up; without a leader before a member ends its ranks
CERTAIN_SECONDS = 8.0  # after that until a member that was cut off has surely ended its ranks


class Membership:
    """Used in the leader's thread only, but for what `links` does by itself. `handover`: where this node was a member
    before.
    """

    def __init__(
        self,
        folder: RunFolder,
        spec: "KeptRunOrder",
        local: LocalRanks,
        agent: Optional[MemberAgent],
        handover: Optional[Handover],
        term: int = 1,
    ) -> None:
        """`term`: with which it begins to lead after a reboot."""
        self._folder, self._local = folder, local
        self.own: str = spec["node"]
        self.pool: List[str] = spec["nodes"]
        self.size: GangSize = spec.get("size") or {"min": len(self.pool), "max": len(self.pool)}
        self.lost_seconds = float(spec["gang"].get("lost", LOST_SECONDS))
        self.term = handover.term if handover else term
        self.links = MemberLinks(folder, spec, self.term)
        self.agent = agent or MemberAgent(folder, spec, local)
        self.evidence = Evidence(folder, self.own, self.links, self.agent)
        self.lost: Dict[str, NodeLoss] = {}  # nodes that were put out, and why
        self.history: GangHistory = {"attempts": [], "open": None}
        self._copies = copies_of(spec)
        self._dead: Set[str] = set()
        self._written: Dict[str, MemberPlace] = {}
        self._former = handover.leader if handover else None
        self._sleep = Sleep()
        self._limit = TimeLimit(folder, spec, bool(handover) or bool(folder.state().get("returned")))
        self._can_be_replaced = may_be_led_on(spec)

    @property
    def others(self) -> List[str]:
        return [node for node in self.pool if node != self.own]

    def set_desired(self, desired: "GangDesired") -> None:
        """Tells everybody, and does it here. `ask` goes on as it was, where nothing else is said."""
        self.links.set_desired(
            {
                "ask": self.links.desired.get("ask"),
                **desired,
                "term": self.term,
                "history": {**self.history, "lost": self.lost},
                "places": self._places(),
            }
        )
        self.agent.apply(self.links.desired)

    def apply(self) -> None:
        """Again and again: brings the desired state about here, and lets the others know where each of them is reached,
        for a vote without us.
        """
        places = self._places()
        if self.links.desired["attempt"] and places != self.links.desired.get("places"):
            self.set_desired(self.links.desired)
        if places != self._written:
            self._written = places
            # for our reaper, should we be killed
            self._folder.write("state", {**self._folder.state(), "places": places})
        self.take_back()
        self._keep_copies()
        self.agent.apply(self.links.desired)
        self.agent.voter.knows(self.links.desired, False)
        for node, observed in self.agent.voter.gone().items():
            if node in self.pool and not self.observed(node).get("gone"):
                self.links.says(node, {**self.observed(node), **observed})

    def take_back(self) -> None:
        """Nodes that have come back after a reboot are spares. One that is still taken for a part of an attempt is put
        out first: that attempt is over (gang/aftermath.py).
        """
        for node, boot in self.agent.voter.returning().items():
            if node not in self.others:
                continue
            phase = self.links.desired["phase"]
            if (
                node not in self.lost
                and phase not in ("wait", "committed", "end")
                and node in self.links.desired.get("members", [])
            ):
                lost: NodeLoss = {"node": node, "kind": "reboot", "message": f"{node} is lost: it was rebooted"}
                trouble: LaunchTrouble = {"at": time.time(), "message": lost["message"], "exit": None, "tail": []}
                attempt = self.links.desired["attempt"]
                self.links.says(
                    node,
                    {
                        **self.observed(node),
                        "attempt": attempt,
                        "phase": "ended",
                        "records": {},
                        "survivors": [],
                        "trouble": trouble,
                        "gone": True,
                        "lost": lost,
                    },
                )
                continue
            self.lost.pop(node, None)
            self.links.readmit(node)
            self.agent.voter.welcomes(node, boot)
            self._folder.event("came back", member=node)

    def _keep_copies(self) -> None:
        """The newest checkpoint is to be on more than one node while the ranks train."""
        if not self._copies or self.links.desired["phase"] != "run":
            return
        keep = choose(
            self.observations(self.able()),
            self.links.desired["members"],
            self._copies,
        )
        if keep and keep != self.links.desired.get("keep"):
            self.set_desired({**self.links.desired, "keep": keep})

    def observed(self, node: str) -> "GangObserved":
        return self.agent.observed() if node == self.own else self.links.observed(node)

    def has_said(self, node: str) -> bool:
        """Whether it is connected and has said how it is: until then its checkpoint is not known."""
        return node in self.links.here() and "checkpoint" in self.observed(node)

    def observations(self, members: Sequence[str]) -> "Dict[str, GangObserved]":
        return {node: self.observed(node) for node in members}

    def usable(self) -> List[str]:
        """Itself, and who is connected."""
        return [node for node in self.pool if node == self.own or node in self.links.here()]

    def able(self) -> List[str]:
        """Those of them that may have ranks: itself, too, can be put out, and still leads."""
        return [node for node in self.usable() if node not in self.lost]

    def next_members(self, but: Iterable[str] = ()) -> Optional[List[str]]:
        """The nodes of the next attempt, `but` those; None where too few can be used."""
        able = [node for node in self.able() if node not in but]
        return rules.next_members(self.pool, able, self.size["max"], self.size["min"], self.own)

    def unended(self, number: int, members: Sequence[str]) -> List[str]:
        """Nodes that may still have ranks. One that has not begun yet will not begin after a stop."""

        def is_over(observed: "GangObserved") -> bool:
            return (observed.get("attempt") == number and observed.get("phase") == "ended") or observed.get(
                "skipped", self._local.attempt < number and number
            ) >= number

        return [node for node in members if not is_over(self.observed(node))]

    def put_out(self, node: str, why: "NodeLoss") -> None:
        self.lost[node] = why
        self.links.put_out(node)
        self._folder.event("put out", member=node, lost=why["kind"], why=why["message"])

    def certain(self, node: str) -> float:
        """Seconds without a node after which it has surely ended its ranks. One that led counts from when it noticed,
        which may be later.
        """
        return self.lost_seconds + CERTAIN_SECONDS + (SILENT_SECONDS if node == self._former else 0.0)

    def gather(self) -> None:
        """Has all others asked about everybody who is away."""
        self.evidence.gather(
            [node for node in self.others if node not in self.lost and self.links.lost_for(node) is not None]
        )

    def rested(self, seconds: float) -> None:
        """In which the run had nothing: its time limit does not count them."""
        self._limit.add(seconds)

    def stop_request(self) -> "Optional[StopRequest]":
        """What somebody asked for on this node, or on a member's, or the run itself before it began."""
        self._limit.apply()
        requests = [one for one in [self._folder.stop_request(), *self.links.stop_requests()] if one]
        return next((one for one in requests if one.get("kill")), requests[0] if requests else None)

    def step_down_cause(self) -> "Optional[Cause]":
        """The cause of the end here, where others lead the run by now, or so many have not heard of this node for so
        long that they may.
        """
        if not self._can_be_replaced:
            return None
        newer = self.agent.voter.newer(self.term)
        if newer:
            return of_gang(
                self.own,
                f"{newer['leader']} leads the run by now: more than half of its nodes have chosen it while {self.own} was not heard",
            )
        # They have heard of us up to a beat before we fell asleep; what we have read since may be older than their
        # choice.
        if self._sleep.longest > max(self.lost_seconds / 2, self.lost_seconds - BEAT_SECONDS - 0.5):
            return of_gang(
                self.own,
                f"{self.own}, which led the run, stood still for {self._sleep.longest:.0f} s; the others may go on without it",
            )
        unheard = self.links.unheard()
        # Dead before it could choose; where nobody listens later on, the run may be over there under another leader.
        self._dead |= {
            node for node in self.evidence.refused() if unheard.get(node, self.lost_seconds) < self.lost_seconds
        }
        dead = self._dead | {node for node in self.others if self.observed(node).get("gone")}
        # Who has led never votes, and never leads again.
        unheard = {node: seconds for node, seconds in unheard.items() if node not in dead and node != self._former}
        nodes = rules.outvoted(self.pool, unheard, self.lost_seconds, self.lost_seconds * 2 + CERTAIN_SECONDS)
        if not nodes:
            return None
        return of_gang(
            self.own,
            f"{self.own}, which led the run, had no connection to {', '.join(nodes)} for {self.lost_seconds:.0f} s; they are more than half of its nodes and may go on without it",
        )

    def close(self) -> None:
        self._sleep.close()
        self.links.close()
        self.agent.close()

    def _places(self) -> "Dict[str, MemberPlace]":
        return {node: list(place) for node in self.pool for place in [self.observed(node).get("peer")] if place}
