"""What a gang does next, decided from what is known: who is lost and why, who goes on, and whether going on makes
sense. Pure.

A word that one node has about another is reached, refused (the machine answers, nobody listens) or silent.
"""

from typing import TYPE_CHECKING, Any, Iterable, List, Mapping, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from flexrack_node.schema.gang import GangDesired, NodeLoss, PeerWord

WITHOUT_PROGRESS = 2  # attempts in a row, after the first one, that come no further


def next_members(
    pool: Sequence[str], usable: Sequence[str], most: int, least: int, leader: Optional[str] = None
) -> Optional[List[str]]:
    """The nodes of the next attempt, the leader (the pool's first, where not said) first: those that can be used, at
    most `most`; None where `least` are not there.
    """
    leader = leader or pool[0]
    chosen = [node for node in [leader, *(one for one in pool if one != leader)] if node in usable][:most]
    return chosen if len(chosen) >= least and chosen[:1] == [leader] else None


def majority(pool: Sequence[str]) -> int:
    """How many of the run's nodes are more than half of them."""
    return len(pool) // 2 + 1


def can_be_replaced(pool: Sequence[str], leader: str, out: Iterable[str], least: int) -> bool:
    """Whether a run that loses its leader can go on: the others are a majority, and enough for an attempt. `out`: nodes
    that were lost before.
    """
    others = set(pool) - {leader, *out}
    return len(others) >= max(majority(pool), least)


def is_left_alone(pool: Sequence[str], own: str, leader: str, out: Iterable[str], ended: Iterable[str]) -> bool:
    """Whether a node that has lost its leader need not wait for a vote: nobody is left who could lead, and too few are
    who could vote for it. `out`: nodes that were lost before, which may vote and never lead; `ended`: nodes whose
    supervisors are known to have ended.
    """
    others = set(pool) - {own, leader, *ended}
    return not others - set(out) and len(others) + 1 < majority(pool)


def outvoted(pool: Sequence[str], unheard: Mapping[str, float], lost_seconds: float, over_seconds: float) -> List[str]:
    """Nodes that may have chosen another leader, where they are a majority; else none. `unheard`: of nodes that are not
    known to be dead, seconds since their last word. Before `lost_seconds` a node has not given its leader up, after
    `over_seconds` it has ended. Any moment until now counts: who asks may have been asleep.
    """
    for ago in [0.0, *(max(0.0, seconds - over_seconds) + 0.001 for seconds in unheard.values())]:
        able = sorted(node for node, seconds in unheard.items() if lost_seconds < seconds - ago < over_seconds)
        if len(able) >= majority(pool):
            return able
    return []


def judge_lost(node: str, leader: str, words: "Mapping[str, PeerWord]", seconds: float) -> "NodeLoss":
    """Why the leader has no connection to a node. `words`: of every peer that could be asked."""
    reached = sorted(peer for peer, word in words.items() if word == "reached")
    refused = sorted(peer for peer, word in words.items() if word == "refused")
    silent = sorted(peer for peer, word in words.items() if word == "silent")
    since = f"no connection from {leader} for {seconds:.0f} s"
    others = [peer for peer in reached if peer != leader]
    if others:
        return {
            "node": node,
            "kind": "link",
            "message": f"the link between {leader} and {node} is down: {_list(others)} still {_verb(others, 'reaches', 'reach')} {node} ({since})",
        }
    if refused:
        return {
            "node": node,
            "kind": "supervisor",
            "message": f"{node} lost its supervisor: the machine answers {_list(refused)}, and nothing of the run listens there ({since})",
        }
    if silent and silent != [leader]:
        return {
            "node": node,
            "kind": "node",
            "message": f"{node} is lost: {_list(silent)} {_verb(silent, 'does', 'do')} not reach it either ({since})"
            if leader not in silent or len(silent) == 1
            else f"{node} is lost: {_list(silent)} do not reach it ({since})",
        }
    return {
        "node": node,
        "kind": "node",
        "message": f"{node} is lost: {since}, and there is no other node that could reach it",
    }


def broken_links(words: "Mapping[str, Mapping[str, PeerWord]]") -> List[Tuple[str, str]]:
    """Pairs of nodes that do not reach each other although somebody else reaches both. `words`: of every node, about
    the others.
    """

    def is_reached_by_another(node: str, but: str) -> bool:
        return any(word.get(node) == "reached" for other, word in words.items() if other not in (node, but))

    pairs = {
        (min(one, other), max(one, other))
        for one, word in words.items()
        for other, said in word.items()
        if said == "silent"
    }
    return sorted(
        (one, other) for one, other in pairs if is_reached_by_another(one, other) and is_reached_by_another(other, one)
    )


def leave_out(pairs: Sequence[Tuple[str, str]], pool: Sequence[str], leader: Optional[str] = None) -> List[str]:
    """The fewest nodes found without which no pair is broken: again and again the one with the most broken links, the
    later one of the pool, never the leader.
    """
    leader = leader or pool[0]
    left, out = list(pairs), []
    while left:
        counts = {node: sum(node in pair for pair in left) for pair in left for node in pair if node != leader}
        worst = max(counts, key=lambda node: (counts[node], pool.index(node)))
        out.append(worst)
        left = [pair for pair in left if worst not in pair]
    return sorted(out, key=list(pool).index)


def is_further(attempt: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> Optional[bool]:
    """Whether an attempt came further than those before it: it left a newer checkpoint, or made more steps than the
    last one that began at the same checkpoint. None where nothing tells: no checkpoint is declared, and no rank tells
    its steps.
    """
    if attempt.get("reached") is None and attempt.get("steps") is None:
        return None
    if (attempt.get("reached") or {}).get("at", 0) > max(
        ((one.get("reached") or {}).get("at", 0) for one in before), default=0
    ):
        return True
    alike = [
        one for one in before if one.get("steps") is not None and one.get("checkpoint") == attempt.get("checkpoint")
    ]
    return bool(alike and attempt.get("steps") is not None and attempt["steps"] > alike[-1]["steps"])


def stuck(attempts: Sequence[Mapping[str, Any]], allowed: int = WITHOUT_PROGRESS) -> int:
    """How many attempts have ended at the same place, where that is more than `allowed` after the first one; else 0. An
    attempt whose nodes were lost does not count.
    """
    row = 1
    own = [one for one in attempts if not one.get("changes")]
    for at in range(len(own) - 1, 0, -1):
        if is_further(own[at], attempts[: attempts.index(own[at])]) is not False:
            break
        row += 1
    return row if row > allowed else 0


def describe_stuck(count: int, attempts: Sequence[Mapping[str, Any]], cause: Optional[Mapping[str, Any]]) -> str:
    """For people: `3 attempts ended at the same place (checkpoint last.pt): rank 5 on node-2`."""
    reached = next(
        (one["reached"] for one in reversed(attempts) if one.get("reached") and one["reached"].get("name")), None
    )
    steps = max((one.get("steps") or 0 for one in attempts), default=0)
    where = (
        f"after step {steps}"
        if steps
        else f"checkpoint {reached['name']}"
        if reached
        else "before a checkpoint was written"
    )
    who = (
        ""
        if not cause
        else f": rank {cause['rank']} on {cause['node']}"
        if cause.get("rank") is not None
        else f": {cause['node']}"
    )
    message = f": {cause['message']}" if cause and cause.get("message") else ""
    return f"{count} attempts ended at the same place ({where}){who}{message}"


def describe_change(before: Sequence[str], after: Sequence[str]) -> str:
    """For people, what became of the nodes from one attempt to the next; empty where nothing changed."""
    gone, come = [node for node in before if node not in after], [node for node in after if node not in before]
    parts: List[str] = []
    if gone and come:
        parts.append(f"{_list(come)} {_verb(come, 'takes', 'take')} the place of {_list(gone)}")
    elif gone:
        parts.append(f"goes on without {_list(gone)}")
    elif come:
        parts.append(f"{_list(come)} {_verb(come, 'joins', 'join')}")
    if len(before) != len(after):
        parts.append(f"{len(after)} nodes instead of {len(before)}")
    return ", ".join(parts)


def _list(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return one if len(names) == 1 else many


def takes_over(desired: "GangDesired", received: "GangDesired") -> bool:
    """Whether a member does from now on what it is told, instead of what was wanted of it: what the leader has sent
    earlier may come later, where it welcomes a node at the moment in which it wants something new. A new leader counts
    anew, in its own term. Who was put out stays out.
    """
    return desired["phase"] != "out" and (received.get("term", 1), received.get("serial", 0)) >= (
        desired.get("term", 1),
        desired.get("serial", 0),
    )
