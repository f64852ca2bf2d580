"""gpu.state, .lease, .release, .move: a GPU is a run's or the GPU daemon's, never both's, and here is what each of the two
must know of the other.

A run reserves GPUs by UUID (reservation/place.py), and the daemon's name of a CUDA device is its UUID too. Both sides
decide under the lock of the reservations: the daemon gives no lease of a device that a run has reserved, and no run
gets a device of which somebody has a lease.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, cast

from flexrack_node.base.boot import boot_id, boot_time
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu import admin_socket
from flexrack_node.reservation.life import is_counting
from flexrack_node.reservation.place import Place, open_place
from flexrack_node.reservation.record_file import user_name

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Claim, InTheWay, Record
    from flexrack_node.schema.daemon import DaemonState, EndedLease, GrantedLease, MovedLease
    from flexrack_node.schema.gpu import LeaseId, LeaseMove, LeaseRequest
    from flexrack_node.schema.node import Nothing

_MOVE_SECONDS = 3600  # tens of GiB over a slow link; the daemon itself gives up a link that is lost


def state(given: "Optional[Nothing]", channel: Channel) -> "DaemonState":
    """{state: absent|stopped|running, status, devices, leases}. stopped: it should run and does not; a device that a
    run has reserved says so.
    """
    status: Any = admin_socket.look(channel.root)
    if status is None:
        return {
            "state": "stopped" if (channel.root / "gpu" / "settings.json").exists() else "absent",
            "status": None,
            "devices": [],
            "leases": [],
        }
    devices = admin_socket.ask(channel.root, {"op": "devices"})["devices"]
    leases = admin_socket.ask(channel.root, {"op": "leases"})["leases"]
    return mark({"state": "running", "status": status, "devices": devices, "leases": leases}, channel.root)


def lease(given: "LeaseRequest", channel: Channel) -> "GrantedLease":
    """{devices, whole | fraction | memory, compute, cap, owner, purpose} -> {lease, key, server, devices, ...}.
    GPU_UNAVAILABLE where somebody was quicker, or a run has it.
    """
    place = open_place(channel.root)
    with place.locked():
        check_unreserved(place, given.get("devices") or [])
        granted: GrantedLease = admin_socket.ask(channel.root, {**given, "op": "lease"})
        return granted


def release(given: "LeaseId", channel: Channel) -> "EndedLease":
    """{lease}: ends it and its workers. NOT_FOUND where there is none of that id."""
    ended: EndedLease = admin_socket.ask(channel.root, {"op": "release", "lease": given["lease"]})
    return ended


def move(given: "LeaseMove", channel: Channel) -> "MovedLease":
    """{lease, to, rest_seconds} -> {lease, state, sessions, pause_seconds}. Its programs go on at the daemon of `to`.
    NOT_FOUND where there is none of that id; GPU_REFUSED with the reason where it stays: nothing has changed then.
    """
    moved: MovedLease = admin_socket.ask(
        channel.root, {**given, "op": "move"}, seconds=given["rest_seconds"] + _MOVE_SECONDS
    )
    return moved


def reserved(place: Place) -> "Dict[str, Record]":
    """The living record that has each GPU, by UUID. Who only waits in line has nothing."""
    boot, at = boot_id(), boot_time()
    return {
        gpu: record
        for record in place.records()
        if record["state"] != "waiting" and is_counting(record, at, boot)
        for gpu in record["wants"]["gpus"]
    }


def check_unreserved(place: Place, devices: List[str]) -> None:
    """Raises GPU_UNAVAILABLE where a run has one of them. Call it under the lock."""
    theirs = reserved(place)
    for device in devices:
        if device in theirs:
            one = theirs[device]
            raise NodeError(
                "GPU_UNAVAILABLE",
                f"{device} is reserved for run {one['lease']} of {one['owner']}",
                "flexrack rack reservations",
                device=device,
            )


def mark(reported: "DaemonState", root: Path) -> "DaemonState":
    """The daemon's state, with `reserved` {lease, owner} on each device that a run has."""
    if reported["devices"]:
        theirs = reserved(open_place(root))
        for device in reported["devices"]:
            if device["id"] in theirs:
                device["reserved"] = {"lease": theirs[device["id"]]["lease"], "owner": theirs[device["id"]]["owner"]}
    return reported


def leased_records(root: Path, gpus: List[str], wanted: "Claim") -> "List[InTheWay]":
    """What stands in the way of a run that wants these GPUs: a record, as reservations have them, for each lease of
    this user's daemon.
    """
    if not gpus or admin_socket.look(root) is None:
        return []
    found: List[InTheWay] = []
    for lease in admin_socket.ask(root, {"op": "leases"})["leases"]:
        shared = sorted({one["id"] for one in lease["devices"]} & set(gpus))
        if shared:
            found.append(
                cast(
                    "InTheWay",
                    {
                        **wanted,
                        "lease": f"GPU lease {lease['lease'][:8]}",
                        "state": "running",
                        "owner": lease["owner"],
                        "project": None,
                        "since": lease["created"],
                        "wants": {"gpus": shared, "slots": 0, "exclusive": False},
                        "over": f"GPU {', '.join(shared)}",
                        "user": user_name(os.geteuid()),
                    },
                )
            )
    return found
