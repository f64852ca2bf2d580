"""Verbs of reservations: reservation.take, .confirm, .renew, .release, .list. A refusal is an answer, not an error: the
caller asks many nodes.

The life of a lease on a node: take makes it `prepared` (or leaves it `waiting` in line); where every node of the gang
has granted it, confirm makes it `confirmed`; the run's supervisor takes it over (reservation/hold.py) and it is
`running` until that ends. Until then it ends by itself, `ttl` seconds after the last renewal. Its fencing number only
grows: it is the time since boot, in microseconds, under the lock.
"""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Literal, Optional, Union

from flexrack_node.base.boot import boot_id, boot_time
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu.claims import leased_records
from flexrack_node.gpu.ids import gpu_ids
from flexrack_node.reservation.life import MAX_TTL, is_counting, pid_namespace
from flexrack_node.reservation.place import Place, open_place
from flexrack_node.reservation.record import current
from flexrack_node.reservation.rules import in_the_way

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Claim, InTheWay, Record
    from flexrack_node.schema.nodefiles import KeptReservation
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
    place = open_place(channel.root)
    end_own_dead(place)
    with place.locked():
        boot, at = boot_id(), boot_time()
        old = place.read_own(given["lease"], channel.root)
        wanted = _wanted(given, channel.root, at, boot)
        if old and is_counting(old, at, boot):
            if old["state"] in ("confirmed", "running"):
                raise NodeError("CONFLICT", f"{given['lease']} is reserved already")
            wanted["since"] = float(given.get("since") or old["since"])
        records = [record for record in place.records() if is_counting(record, at, boot)]
        claim: Claim = {**wanted, "uid": os.geteuid()}
        holders = in_the_way(claim, records, given.get("passes") or ()) + leased_records(
            channel.root, wanted["wants"]["gpus"], claim
        )
        granted = not holders
        if granted and not given.get("look"):
            place.write(
                {
                    **wanted,
                    "state": "prepared",
                    "fence": max([int(at * 1e6), *(record["fence"] + 1 for record in [old] if record)]),
                }
            )
        elif given.get("wait"):
            place.write(wanted)
        elif old:
            place.remove(old)
        mine = place.read_own(given["lease"], channel.root)
    return {
        "granted": granted,
        "fence": mine["fence"] if mine and granted else None,
        "since": wanted["since"],
        "identity": f"{boot} {wanted['domain']}",
        "shared": place.shared,
        "gpus": wanted["wants"]["gpus"],
        "holders": [shown(record, at, record["over"]) for record in holders],
    }


def confirm(given: "LeaseFence", channel: Channel) -> "Renewed":
    """{lease, fence}: from now on nobody counts on its being given back at once. Errors: RESERVATION_LOST."""
    return _update(given, channel, is_confirmed=True)


def renew(given: "LeaseFence", channel: Channel) -> "Renewed":
    """{lease, fence}: another `ttl` seconds; also of what was confirmed and then not renewed in time, as the way to here
    was cut, while nobody else has it. Nothing to do where the supervisor has it. Errors: RESERVATION_LOST.
    """
    return _update(given, channel)


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


def shown(record: "Union[Record, InTheWay]", at: float, over: Optional[str] = None) -> "Reservation":
    """What the caller is told. `ends_in`: seconds until it ends by itself, None for one that lives with its run;
    `silent`: since its last heartbeat; `here`: not on another simulated node.
    """
    silent = max(0.0, at - record["heartbeat"])
    ends = None if record["state"] == "running" else round(max(0.0, record["ttl"] - silent), 1)
    here = record["domain"] == domain_of()
    return {
        "lease": record["lease"],
        "state": record["state"],
        "user": record["user"],
        "owner": record["owner"],
        "project": record.get("project"),
        "node": record["node"],
        "nodes": record.get("nodes", []),
        "since": record["since"],
        "over": over,
        "here": here,
        "wants": record["wants"],
        "silent": round(silent, 1),
        "ends_in": ends,
    }


def domain_of() -> str:
    """What "the whole node" means: the machine as seen from this network namespace; a node of the local rack is one of
    its own.
    """
    rack = os.environ.get("FLEXRACK_LOCAL_RACK")
    return f"local {rack} {os.environ.get('FLEXRACK_NODE', '')}" if rack else os.readlink("/proc/self/ns/net")


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


def _forbids(record: "Record", owner: Optional[str]) -> "Optional[Literal['owner', 'right']]":
    """Why a record must not be taken away by who asks: it is not of the owner they named, or the kernel would refuse."""
    if record["owner"] != owner:
        return "owner"
    return "right" if os.geteuid() not in (0, record["uid"]) else None


def _end_run(record: "Record") -> None:
    from flexrack_node.run.files import RunFolder  # only now: few have one that is dead
    from flexrack_node.runs.repair import repair
    from flexrack_node.runs.view import view_of

    folder = RunFolder(Path(record["root"]) / "runs" / record["lease"])
    if (folder.path / "spec.json").exists():
        repair(view_of(folder))


def _wanted(given: "TakeInput", root: Path, at: float, boot: str) -> "KeptReservation":
    wants = given["wants"]
    present = gpu_ids() if wants["gpus"] else []
    gpus = present if wants["gpus"] == "all" else list(wants["gpus"])
    missing = sorted(set(gpus) - set(present))
    if missing:
        raise NodeError("NODE_UNFIT", f"there is no GPU {', '.join(missing)} here", "flexrack rack probe", gpus=present)
    return {
        "lease": given["lease"],
        "fence": 0,
        "state": "waiting",
        "boot": boot,
        "heartbeat": at,
        "ttl": min(MAX_TTL, float(given["ttl"])),
        "since": float(given.get("since") or time.time()),
        "owner": given["owner"],
        "project": given.get("project"),
        "node": given["node"],
        "nodes": list(given["nodes"]),
        "root": str(root),
        "domain": domain_of(),
        "holders": [],
        "pidns": pid_namespace(),
        "wants": {"gpus": gpus, "slots": int(wants["slots"]), "exclusive": bool(wants["exclusive"])},
    }


def _update(given: "LeaseFence", channel: Channel, is_confirmed: bool = False) -> "Renewed":
    place = open_place(channel.root)
    with place.locked():
        record = _unclaimed(place, given, channel.root) or current(place, given, channel.root)
        if record["state"] != "running":
            place.write({**record, "state": "confirmed" if is_confirmed else record["state"], "heartbeat": boot_time()})
    return {"ttl": record["ttl"]}


def _unclaimed(place: Place, given: "LeaseFence", root: Path) -> "Optional[Record]":
    """A confirmed record whose time is over, where it would be granted again: its run need not begin from nothing.
    None for every other one. Under the lock.
    """
    boot, at = boot_id(), boot_time()
    record = place.read_own(given["lease"], root)
    if (
        record is None
        or record["state"] != "confirmed"
        or record["fence"] != given["fence"]
        or record["boot"] != boot
        or is_counting(record, at, boot)
    ):
        return None
    others = [one for one in place.records() if is_counting(one, at, boot)]
    taken = in_the_way(record, others) or leased_records(root, record["wants"]["gpus"], record)
    return None if taken else record
