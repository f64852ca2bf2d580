"""Verbs of reservations: reservation.take, .confirm, .renew, .release, .list. A refusal is an answer, not an error: the
caller asks many nodes.

The life of a lease on a node: take makes it `prepared` (or leaves it `waiting` in line); where every node of the gang
has granted it, confirm makes it `confirmed`; the run's supervisor takes it over (reservation/hold.py) and it is
`running` until that ends. Until then it ends by itself, `ttl` seconds after the last renewal. Its fencing number only
grows: it is the time since boot, in microseconds, under the lock.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, List, Literal, Optional

from flexrack_node.base.boot import boot_id, boot_time
from flexrack_node.base.channel import Channel
from flexrack_node.gpu import reserving
from flexrack_node.gpu.reserving import domain_of, shown
from flexrack_node.reservation.life import is_counting
from flexrack_node.reservation.place import Place, open_place

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record
    from flexrack_node.schema.reservation import (
        LeaseFence,
        LeftReservation,
        NodeReservations,
        ReleaseAnswer,
        ReleaseInput,
        Renewed,
        Reservation,
        TakeAnswer,
        TakeInput,
    )


def take(given: "TakeInput", channel: Channel) -> "TakeAnswer":
    """{lease, owner, project, node, nodes, wants: {gpus: "all"|[id], slots, exclusive}, ttl, wait?: bool, since?,
    look?: bool, passes?: [lease]}.

    Returns {granted, fence, since, identity, shared, gpus, holders}. `wait` leaves a place in line where it is refused;
    `since`: since when we wait, on another node. `look`: renews the place in line and tells whether it would be
    granted, and takes nothing.
    """
    end_own_dead(open_place(channel.root))
    return reserving.take(given, channel.root)


def confirm(given: "LeaseFence", channel: Channel) -> "Renewed":
    """{lease, fence}: from now on nobody counts on its being given back at once. Errors: RESERVATION_LOST."""
    return reserving.update(given, channel.root, is_confirmed=True)


def renew(given: "LeaseFence", channel: Channel) -> "Renewed":
    """{lease, fence}: another `ttl` seconds; also of what was confirmed and then not renewed in time, as the way to here
    was cut, while nobody else has it. Nothing to do where the supervisor has it. Errors: RESERVATION_LOST.
    """
    return reserving.update(given, channel.root)


def release(given: "ReleaseInput", channel: Channel) -> "ReleaseAnswer":
    """{lease, own?, wait?, force?, owner?}: gives it back (`wait`: to its place in line). Returns {released: [what it
    was], left: [what was not, and why]}.

    One that a supervisor has is left to it; with `force` it is taken away, and the supervisor ends its ranks. `own`:
    only the record that `take` has made for this node. Without (`rack release`) every record of that lease here is
    meant, whoever's; one whose owner is not `owner` is left.
    """
    place = open_place(channel.root)
    released: List[Reservation] = []
    left: List[LeftReservation] = []
    with place.locked():
        boot, at = boot_id(), boot_time()
        for record in place.records():
            if record["lease"] != given["lease"] or not is_counting(record, at, boot):
                continue
            ours = record["uid"] == os.geteuid() and os.path.realpath(record["root"]) == os.path.realpath(channel.root)
            if not ours if given.get("own") else record["domain"] != domain_of():
                continue
            why: Optional[Literal["owner", "right", "running"]] = (
                None if given.get("own") else _forbids(record, given.get("owner"))
            )
            if not why and record["state"] == "running" and not given.get("force"):
                why = "running"
            if why:
                left.append({**shown(record, at), "why": why})
                continue
            if given.get("wait"):
                place.write({**record, "state": "waiting", "heartbeat": at})
            else:
                place.remove(record)
            released.append(shown(record, at))
    return {"released": released, "left": left}


def listing(_given: "None", channel: Channel) -> "NodeReservations":
    """{shared, damaged, identity, reservations}: who has what here now, and who waits, in order of arrival. `other`: on
    another simulated node.
    """
    place = open_place(channel.root)
    boot, at = boot_id(), boot_time()
    records = [record for record in place.records() if is_counting(record, at, boot)]
    domain = domain_of()
    here = [record for record in records if record["domain"] == domain or record["wants"]["gpus"]]
    here.sort(key=lambda record: (record["since"], record["lease"]))
    return {
        "shared": place.shared,
        "damaged": place.damaged,
        "identity": f"{boot} {domain}",
        "reservations": [shown(record, at) for record in here],
    }


def _forbids(record: "Record", owner: Optional[str]) -> "Optional[Literal['owner', 'right']]":
    """Why a record must not be taken away by who asks: it is not of the owner they named, or the kernel would refuse."""
    if record["owner"] != owner:
        return "owner"
    return "right" if os.geteuid() not in (0, record["uid"]) else None


def end_own_dead(place: Place) -> None:
    """Records of this user whose supervisor is dead: what is left of those runs is ended before anybody gets what they
    had.
    """
    boot, at = boot_id(), boot_time()
    for record in place.records():
        if record["uid"] != os.geteuid() or is_counting(record, at, boot):
            continue
        if record["state"] == "running" and record["boot"] == boot:
            _end_run(record)
        with place.locked():
            again = place.read_own(record["lease"], Path(record["root"]))
            if again and not is_counting(again, boot_time(), boot):
                place.remove(again)
    with place.locked():
        place.remove_damaged()


def _end_run(record: "Record") -> None:
    from flexrack_node.run.files import RunFolder  # only now: few have one that is dead
    from flexrack_node.runs.repair import repair
    from flexrack_node.runs.view import view_of

    folder = RunFolder(Path(record["root"]) / "runs" / record["lease"])
    if (folder.path / "spec.json").exists():
        repair(view_of(folder))
