"""What a run tells the head of its rack, and hears: POST /flexrack/v1/claims/self, with its own token."""

import json
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from flexrack_node.run.upstream import Away, upstream_of

if TYPE_CHECKING:
    from flexrack_node.schema.gang import HasHere
    from flexrack_node.schema.order import TrackingOrder

PATH = "/flexrack/v1/claims/self"
_TIMEOUT = 15.0
_MOST_BYTES = 1 << 20


class Heard(NamedTuple):
    """`room`: the run that it is to make room for; `is_let_in`: it is its turn (again), before those that it `passes`;
    `ends`: why it is to end, where its nodes gave it more than its command told the head.
    """

    room: Optional[str]
    is_let_in: bool
    passes: List[str]
    ends: Optional[str] = None


class HeadWord:
    """For one thread; its connection is kept."""

    def __init__(self, tracking: "TrackingOrder") -> None:
        self._line = upstream_of(tracking).connect()

    def say(self, saved: Optional[float], away: bool, has: "List[HasHere]") -> Optional[Heard]:
        """`saved`: seconds since the newest checkpoint was written; `away`: it has made room, and waits; `has`: what it has
        of its nodes. None where the head does not answer, or knows nothing of this run.
        """
        try:
            status, text = self._line.ask(PATH, {"saved": saved, "away": away, "has": has}, _TIMEOUT, _MOST_BYTES)
            found: Any = json.loads(text) if status in (200, 409) else None
        except (Away, ValueError):
            return None
        if status == 409:
            error = found.get("error") if isinstance(found, dict) else None
            if not isinstance(error, dict) or error.get("code") != "CLAIM_DIFFERS":
                return None
            return Heard(None, False, [], str(error.get("message")))
        return _heard(found) if isinstance(found, dict) else None

    def close(self) -> None:
        self._line.close()


def _heard(found: Dict[str, Any]) -> Heard:
    room, passes = found.get("room"), found.get("passes")
    return Heard(
        room if isinstance(room, str) else None,
        found.get("state") == "held",
        [one for one in passes if isinstance(one, str)] if isinstance(passes, list) else [],
    )
