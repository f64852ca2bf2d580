"""Who stands in whose way: the rules of reservations on one node. Pure.

A record (see reservation/place.py) wants {gpus: [id, ...], slots: n, exclusive: bool}. `slots` says how many ranks
there are; it is told, and nothing is refused for it: cores are shared as they always were.
"""

from typing import TYPE_CHECKING, Container, List, Optional

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptReservation

    class Claim(KeptReservation):
        """Somebody's."""

        uid: int

    class Record(Claim):
        """As it is read, from its file."""

        user: str
        file: str

    class _InTheWay(Claim):
        user: str
        over: str

    class InTheWay(_InTheWay, total=False):
        """What keeps another one from being granted, and over what. Leases of GPUs have no file."""

        file: str


STATES = ("waiting", "prepared", "confirmed", "running")


def conflict(one: "Claim", other: "Claim") -> Optional[str]:
    """What both want and only one can have, for people; None where they go together. Two parts of one lease always do."""
    if one["lease"] == other["lease"] and one["uid"] == other["uid"]:
        return None
    shared = sorted(set(one["wants"]["gpus"]) & set(other["wants"]["gpus"]))
    if shared:
        return "GPU " + ", ".join(shared) if len(shared) < 3 else f"{len(shared)} GPUs"
    if one["domain"] == other["domain"] and (one["wants"]["exclusive"] or other["wants"]["exclusive"]):
        return "the whole node"
    return None


def is_before(waiting: "Claim", other: "Claim") -> bool:
    """Whether `waiting` stands in line before `other`: who came first; the same order on every node, so that no two
    block each other.
    """
    return (waiting["since"], waiting["lease"]) < (other["since"], other["lease"])


def in_the_way(wanted: "Claim", records: "List[Record]", passes: Container[str] = ()) -> "List[InTheWay]":
    """The living records that keep `wanted` from being granted, each with `over`: those that have it, then those before
    it in line, but for those that it `passes`, as the head decides (ADR 75).
    """
    found: List[InTheWay] = []
    for record in records:
        over = conflict(wanted, record)
        waits = record["state"] == "waiting"
        if over and (not waits or (is_before(record, wanted) and record["lease"] not in passes)):
            found.append({**record, "over": over})
    return sorted(found, key=lambda record: (record["state"] == "waiting", record["since"], record["lease"]))
