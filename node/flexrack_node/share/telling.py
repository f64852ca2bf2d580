"""A share as it is told to its two sides: to its owner, and to who was invited."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from flexrack_node.share import invitations, keys

if TYPE_CHECKING:
    from flexrack_node.schema.share import Share, ShareRecord


def told(folder: Path, record: "ShareRecord") -> "Share":
    """To its owner, who knows whether the door is open."""
    return _as_share(folder, record, keys.has(record["id"]))


def received(folder: Path, record: "ShareRecord") -> "Share":
    return _as_share(folder, record, True)


def _as_share(folder: Path, record: "ShareRecord", is_let_in: bool) -> "Share":
    state: Any = invitations.state_of(record, invitations.answer_to(folder, record))
    if state == "accepted" and record["access"] == "write" and not is_let_in:
        state = "waiting"
    # The name of whose it is comes from the file's owner, not from what the file says.
    return {
        "id": record["id"],
        "name": record["name"],
        "folder": record["folder"],
        "owner": invitations.name_of(record["owner_uid"]),
        "user": record["user"],
        "access": record["access"],
        "until": record["until"],
        "state": state,
    }
