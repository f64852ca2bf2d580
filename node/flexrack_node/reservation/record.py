"""The record of a lease, where that still holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Union

from flexrack_node.base.boot import boot_id, boot_time
from flexrack_node.base.errors import NodeError
from flexrack_node.reservation.life import is_counting
from flexrack_node.reservation.place import Place

if TYPE_CHECKING:
    from flexrack_node.reservation.rules import Record
    from flexrack_node.schema.order import ReservationHeld
    from flexrack_node.schema.reservation import LeaseFence

    Held = Union[LeaseFence, ReservationHeld]


def current(place: Place, given: "Held", root: Path) -> "Record":
    """The record of {lease, fence}, where it still counts. Raises RESERVATION_LOST. Call it under the lock where
    something follows from it.
    """
    record = place.read_own(given["lease"], root)
    if (
        record
        and record["fence"] == given["fence"]
        and record["state"] != "waiting"
        and is_counting(record, boot_time(), boot_id())
    ):
        return record
    why = (
        "it was released"
        if record is None
        else "another one has taken its place"
        if record["fence"] != given["fence"]
        else "it was not renewed in time"
    )
    raise NodeError(
        "RESERVATION_LOST",
        f"the reservation of {given['lease']} does not hold any more: {why}",
        "run the command again",
        lease=given["lease"],
    )
