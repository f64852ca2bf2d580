"""How a run gets its place on a node, with its GPUs, or its place in line: for the verbs of reservations
(verbs/reservation.py), and for the supervisor of a run that made room and comes back (gpu/seat.py).
"""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Union

from flexrack_node.base.boot import boot_id, boot_time
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
    from flexrack_node.schema.reservation import LeaseFence, Renewed, Reservation, TakeAnswer, TakeInput


def take(given: "TakeInput", root: Path) -> "TakeAnswer":
    """See the verb reservation.take. `root`: flexrack's folder on the node."""
    place = open_place(root)
    with place.locked():
        boot, at = boot_id(), boot_time()
        old = place.read_own(given["lease"], root)
        wanted = _wanted(given, root, at, boot)
        if old and is_counting(old, at, boot):
            if old["state"] in ("confirmed", "running"):
                raise NodeError("CONFLICT", f"{given['lease']} is reserved already")
            wanted["since"] = float(given.get("since") or old["since"])
        records = [record for record in place.records() if is_counting(record, at, boot)]
        claim: Claim = {**wanted, "uid": os.geteuid()}
        holders = in_the_way(claim, records, given.get("passes") or ()) + leased_records(
            root, wanted["wants"]["gpus"], claim
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
        mine = place.read_own(given["lease"], root)
    return {
        "granted": granted,
        "fence": mine["fence"] if mine and granted else None,
        "since": wanted["since"],
        "identity": f"{boot} {wanted['domain']}",
        "shared": place.shared,
        # with the whole node nobody else gets any of its GPUs, whether the run names them or not
        "gpus": sorted({*wanted["wants"]["gpus"], *gpu_ids()})
        if wanted["wants"]["exclusive"]
        else wanted["wants"]["gpus"],
        "holders": [shown(record, at, record["over"]) for record in holders],
    }


def update(given: "LeaseFence", root: Path, is_confirmed: bool = False) -> "Renewed":
    """Another `ttl` seconds; `is_confirmed`: also that every node of its gang has granted it. Errors: RESERVATION_LOST."""
    place = open_place(root)
    with place.locked():
        record = _unclaimed(place, given, root) or current(place, given, root)
        if record["state"] != "running":
            place.write({**record, "state": "confirmed" if is_confirmed else record["state"], "heartbeat": boot_time()})
    return {"ttl": record["ttl"]}


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
