"""What a notebook's server tells of itself, made into what is shown and what is to be ended. Pure."""

import datetime
import uuid
from typing import Any, Dict, List, Mapping, Optional

Seen = Dict[str, Any]
END_SAID = "that was said when it was started (--for)"


def seconds_of(text: str) -> float:
    """`2026-01-02T03:04:05.678Z` in seconds since 1970."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def kernels_of(
    kernels: List[Mapping[str, Any]], sessions: List[Mapping[str, Any]], idle: float
) -> List[Dict[str, Any]]:
    """Each kernel with the notebook that it belongs to, and when it will be ended: only while it is not at work, and
    with `idle` 0 never.
    """
    paths = {one["kernel"]["id"]: one.get("path") or one.get("name") for one in sessions if one.get("kernel")}
    shown: List[Dict[str, Any]] = []
    for one in kernels:
        busy = one.get("execution_state") == "busy"
        since = seconds_of(one["last_activity"])
        shown.append(
            {
                "id": id_of(one),
                "kernel": text_of(one.get("name")),
                "notebook": text_of(paths.get(one["id"])),
                "state": text_of(one.get("execution_state")) or "unknown",
                "active_at": since,
                "ends_at": since + idle if idle and not busy else None,
            }
        )
    return shown


def id_of(kernel: Mapping[str, Any]) -> str:
    """Goes into a path of the server's. Raises ValueError where it is none of Jupyter's."""
    return str(uuid.UUID(kernel["id"]))


def text_of(said: Any) -> Optional[str]:
    """As a terminal may show it: who writes cells names these."""
    return None if said is None else "".join(one if one.isprintable() else "?" for one in str(said)[:500])


def overdue(kernels: List[Dict[str, Any]], now: float) -> List[Dict[str, Any]]:
    return [one for one in kernels if one["ends_at"] is not None and one["ends_at"] <= now]


def server_end(
    status: Mapping[str, Any], kernels: List[Dict[str, Any]], terminals: int, idle: float, end_at: Optional[float]
) -> Dict[str, Any]:
    """When the server itself will be ended, and why; {at: None} where nothing ends it. Nobody ends it for idleness
    while a kernel or a terminal lives.
    """
    ends = [] if end_at is None else [{"at": end_at, "why": END_SAID}]
    if idle and not kernels and terminals == 0:
        ends.append(
            {
                "at": max(seconds_of(status["last_activity"]), seconds_of(status["started"])) + idle,
                "why": f"nobody used it for {duration(idle)}",
            }
        )
    return min(ends, key=lambda one: one["at"]) if ends else {"at": None, "why": None}


def duration(seconds: float) -> str:
    for size, name in ((3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds // size:.0f} {name}"
    return f"{seconds:g} s"
