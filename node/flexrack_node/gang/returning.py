"""How a supervisor that a reboot has ended comes back to its gang: docs/adr/0039.

It asks all others, at the ports they had, who leads (`returned` of gang/voter_state.py). Where a gang lives it is a
member of it, and nothing else. It leads only where nobody else can: every other node says that it has come back, too,
and this one led last; or the run has no other leader than its first node.
"""

import signal
import time
from typing import TYPE_CHECKING, Mapping, NamedTuple, Tuple, Union, cast

from flexrack_node.base.boot import boot_id
from flexrack_node.gang.member_agent import MemberAgent
from flexrack_node.link.peer import ask_all, place_of
from flexrack_node.process.containment import is_alive, send_signal
from flexrack_node.process.start import same_rank
from flexrack_node.rank.local_ranks import TICK, LocalRanks
from flexrack_node.run.cause import of_loss
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known, may_be_led_on
from flexrack_node.run.resumption import attempts_known

if TYPE_CHECKING:
    from flexrack_node.schema.gang import PeerAnswer
    from flexrack_node.schema.result import GangOutcome
    from flexrack_node.schema.runfiles import KeptRunOrder

PATIENCE_SECONDS = 600.0  # for the other nodes to be there again
_ELASTIC_SECONDS = 120.0  # the same where the run can begin with fewer
_AGAIN_SECONDS = 1.0


class Leads(NamedTuple):
    term: int


class Follows(NamedTuple):
    term: int
    leader: str
    place: Tuple[str, int]
    has_vote: bool  # all of the gang began anew after reboots, and nobody of it has voted since


def order_of(folder: RunFolder) -> "KeptRunOrder":
    """The run's order as it is after a reboot: with the attempts before it, and at the ports of before, where the
    others look for this node.
    """
    spec, state = folder.spec(), folder.state()
    size = spec.get("size")
    gang = {
        **spec["gang"],
        "timeout": _ELASTIC_SECONDS if size and size["min"] < len(spec["nodes"]) else PATIENCE_SECONDS,
    }
    place = state.get("gang")
    if place and leader_known(spec, state)[1] == spec["node"]:
        gang["listen"] = place["port"]
    return cast("KeptRunOrder", {**spec, "gang": gang, "attempts": attempts_known(folder)})


def find_place(
    folder: RunFolder, spec: "KeptRunOrder", local: LocalRanks, agent: MemberAgent
) -> "Union[Leads, Follows, GangOutcome]":
    """Its place in the gang; an outcome where there is none, or the run was stopped meanwhile."""
    own, pool, state = spec["node"], spec["nodes"], folder.state()
    term, leader = leader_known(spec, state)
    if not may_be_led_on(spec) and own == leader:
        return Leads(term + 1)
    places = {node: place_of(place) for node, place in state.get("places", {}).items() if node != own}
    agent.voter.comes_back(term, leader)
    deadline, again = time.monotonic() + PATIENCE_SECONDS, 0.0
    while time.monotonic() < deadline:
        if folder.stop_request():
            return {"status": "stopped", "cause": None, "attempts": spec.get("attempts") or [], "partial": True}
        local.tick()
        if time.monotonic() >= again:
            answers = ask_all(
                places, {"returned": {"node": own, "boot": boot_id()}}, spec["gang"]["secret"], own, local.tick
            )
            found = _judge(answers.answers, own, pool, (term, leader))
            if found:
                return found
            again = time.monotonic() + _AGAIN_SECONDS
        time.sleep(TICK)
    message = (
        f"{own} was rebooted while the run was going on, and found nobody who leads it within {PATIENCE_SECONDS:.0f} s"
    )
    return {"status": "failed", "cause": of_loss(own, "reboot", message), "attempts": [], "partial": True}


def _judge(
    answers: "Mapping[str, PeerAnswer]", own: str, pool: "list[str]", known: Tuple[int, str]
) -> "Union[Leads, Follows, None]":
    leaders = [one["leads"] for one in answers.values() if one.get("leads") and one.get("welcome")]
    if leaders:
        newest = max(leaders, key=lambda one: int(one["term"]))
        term = int(newest["term"])
        return Follows(
            term,
            str(newest["leader"]),
            (str(newest["address"]), int(newest["port"])),
            bool(newest.get("anew")) and known[0] < term,
        )
    back = {node: one["returned"] for node, one in answers.items() if one.get("returned")}
    if set(back) != set(pool) - {own}:
        return None
    term, leader = max([known, *((int(one[0]), str(one[1])) for one in back.values())], key=lambda one: one[0])
    return Leads(term + 1) if leader == own else None


def leave(folder: RunFolder, spec: "KeptRunOrder", at: float) -> None:
    """The machine goes down in order: the ranks get their grace, and nothing is said of the run's end, which is for the
    others to say, or goes on after the reboot. Who calls this ends right after it; the reaper tells the others. `at`:
    when it was said.
    """
    folder.write("state", {**folder.state(), "down": boot_id(), "down_at": at})
    folder.event("leaving", why=f"{spec['node']} shuts down")
    attempts = folder.attempts()
    ranks = list(folder.records(attempts[-1]).values()) if attempts else []
    asked = [one["pid"] for one in ranks if "exit" not in one and is_alive(one["pid"])]
    for one in ranks:
        if one.get("pid") in asked:
            send_signal(one["pid"], signal.SIGTERM, same_rank(one))
    deadline = time.monotonic() + float(spec["grace"])
    while time.monotonic() < deadline and any(is_alive(pid) for pid in asked):
        time.sleep(TICK)


def port_of(folder: RunFolder) -> int:
    """That of before, for this node's own port; 0 where it is not known."""
    place = folder.state().get("places", {}).get(folder.spec()["node"])
    return place_of(place)[1] if place else 0
