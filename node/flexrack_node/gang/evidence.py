"""What the nodes of a gang know of each other: whom they reach. The leader asks, through what it wants of them."""

import time
from typing import TYPE_CHECKING, Dict, List, Mapping, Optional, Set

from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.gang.member_links import MemberLinks
from flexrack_node.rank.local_ranks import TICK
from flexrack_node.run import rules
from flexrack_node.run.cause import of_gang
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.gang import NodeLoss, PeerWord
    from flexrack_node.schema.result import RunAttempt
    from flexrack_node.schema.runfiles import MemberPlace

_RANK: "Dict[PeerWord, int]" = {"silent": 0, "refused": 1, "reached": 2}
_PATIENCE = 4.0  # seconds for everybody to have requested everybody; a try takes two


class Evidence:
    """Used in the leader's thread only."""

    def __init__(self, folder: RunFolder, own: str, links: MemberLinks, agent: MemberAgent) -> None:
        self._folder, self._own, self._links, self._agent = folder, own, links, agent
        self._round = 0
        self._requested: List[str] = []
        self._reported: Dict[str, Dict[str, PeerWord]] = {}  # by lost node: the best word of each peer since then

    def gather(self, lost: List[str]) -> None:
        """Has everybody asked about nodes that the leader has no connection to; what they say is an event when it
        changes. Call it again and again.
        """
        if lost != self._requested:
            self._requested = lost
            self._reported = {node: words for node, words in self._reported.items() if node in lost}
            self._ask({node: self._place(node) for node in lost})
        for node in lost:
            # A node that is cut off from the leader ends its part after a while, and then nobody reaches it any more.
            known = self._reported.get(node, {})
            words = {
                **known,
                **{
                    peer: word
                    for peer, word in self._words_of(node).items()
                    if _RANK[word] >= _RANK[known.get(peer, "silent")]
                },
            }
            if words != known:
                self._reported[node] = words
                self._folder.event("asked about", member=node, words=words)

    def is_known(self, node: str, seconds: float) -> bool:
        """Whether all who could say something about a node have done so, or had their time."""
        peers = {self._own, *self._links.here()} - {node}
        return peers <= set(self._reported.get(node, {})) or seconds > _PATIENCE

    def refused(self) -> Set[str]:
        """Nodes whose machine answers while nobody reaches their supervisor: it is dead."""
        return {
            node
            for node, words in self._reported.items()
            if "refused" in words.values() and "reached" not in words.values()
        }

    def judge(self, node: str, seconds: float) -> "NodeLoss":
        return rules.judge_lost(node, self._own, self._reported.get(node, {}), seconds)

    def broken_links(self, members: List[str], pool: List[str]) -> "Dict[str, NodeLoss]":
        """All ask all: nodes without which no two of the others are cut off from each other, and why."""
        self._requested = []
        requested = self._ask({node: self._place(node) for node in members})
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            self._agent.apply(self._links.desired)
            words = self._all_words(members)
            if all(requested - {node} <= set(words[node]) for node in members):
                break
            time.sleep(TICK)
        words = self._all_words(members)
        pairs = rules.broken_links(words)
        found: Dict[str, NodeLoss] = {}
        for node in rules.leave_out(pairs, pool, self._own):
            of_node = [pair for pair in pairs if node in pair]
            reachable = sorted(one for one, said in words.items() if said.get(node) == "reached")
            message = "; ".join(f"the link between {one} and {other} is down" for one, other in of_node)
            found[node] = {
                "node": node,
                "kind": "link",
                "message": f"{message}: {', '.join(reachable)} still reach{'es' if len(reachable) == 1 else ''} {node}",
            }
        return found

    def _ask(self, places: "Mapping[str, Optional[MemberPlace]]") -> Set[str]:
        """Returns those that can be asked about: who has no port is not."""
        self._round += 1
        known = {node: place for node, place in places.items() if place}
        self._links.set_desired(
            {**self._links.desired, "ask": {"round": self._round, "places": known} if known else None}
        )
        return set(known)

    def _place(self, node: str) -> "Optional[MemberPlace]":
        return (self._agent.observed() if node == self._own else self._links.observed(node)).get("peer")

    def _words_of(self, node: str) -> "Dict[str, PeerWord]":
        return {
            peer: said[node]
            for peer, said in self._all_words([self._own, *self._links.here()]).items()
            if node in said and peer != node
        }

    def _all_words(self, nodes: List[str]) -> "Dict[str, Dict[str, PeerWord]]":
        """By node: what it said in this round about others."""
        found: Dict[str, Dict[str, PeerWord]] = {}
        for node in nodes:
            observed = self._agent.observed() if node == self._own else self._links.observed(node)
            found[node] = {
                other: one["word"] for other, one in observed.get("words", {}).items() if one["round"] == self._round
            }
        return found


def explain(last: "RunAttempt", out: "Dict[str, NodeLoss]") -> None:
    """Into the record of an attempt: the loss of nodes is its cause; ranks of others that failed are a consequence."""
    rank, first = last["cause"], next(iter(out.values()))
    own = rank and (rank["node"] in out or rank["kind"] == "gang")
    message = "; ".join(one["message"] for one in out.values())
    if rank and not own:
        who = f"rank {rank['rank']} on {rank['node']}" if rank.get("rank") is not None else rank["node"]
        message += f"; {who} ended because of it{f': {said}' if (said := rank['message']) else ''}"
    cause = of_gang(first["node"], message)
    if rank:
        cause["others"] = sorted({*rank["others"], *([rank["rank"]] if rank["rank"] is not None else [])})
        cause["lines"] = rank["lines"]
    cause["lost"] = first["kind"]
    last["cause"] = cause
    last["lost"] = sorted({*last["lost"], *out})
