"""Verbs about the profiles of a run's ranks: run.profile sums each up where it is, run.trace brings one whole. Only
read.
"""

import base64
from pathlib import Path
from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.run.files import RunFolder
from flexrack_node.runs.view import open_view
from flexrack_node.watch import trace

if TYPE_CHECKING:
    from flexrack_node.schema.profile import NodeProfile, ProfileInput, RankProfile, TraceEnd, TraceInput

PIECE = 512 * 1024


def profile(given: "ProfileInput", channel: Channel) -> "NodeProfile":
    """{run}: the newest trace of each rank of this node. Errors: NOT_FOUND; CONFLICT where the run was to make none."""
    view = open_view(channel.root, given["run"])
    spec = view.folder.spec()
    if not spec.get("profile"):
        raise NodeError("CONFLICT", f"run {given['run']} was not profiled", "flexrack train --profile")
    return {
        "wanted": spec["profile"],
        "live": view.is_live(),
        "ranks": [one for part in view.parts() for one in _of_part(part)],
    }


def _of_part(part: RunFolder) -> "List[RankProfile]":
    found: List[RankProfile] = []
    for attempt in part.attempts()[-1:]:
        for rank in sorted(part.records(attempt)):
            one: RankProfile = {
                "rank": rank,
                "node": part.spec()["node"],
                "attempt": attempt,
                "path": None,
                "bytes": 0,
                "summary": None,
                "note": None,
            }
            found.append(one)
            path = trace_path(part, attempt, rank)
            error_path = path.with_name(f"rank-{rank}.trace.error")
            if not path.exists():
                one["note"] = error_path.read_text(errors="replace").strip()[:500] if error_path.exists() else None
                continue
            one["path"], one["bytes"] = str(path), path.stat().st_size
            try:
                one["summary"] = trace.summarize(trace.load(path))
            except (
                OSError,
                EOFError,
                ValueError,
                KeyError,
                TypeError,
                AttributeError,
            ) as error:  # the program may write there what it wants
                one["note"] = f"{error}" or type(error).__name__
    return found


def trace_path(part: RunFolder, attempt: int, rank: int) -> Path:
    return part.attempt(attempt) / f"rank-{rank}.trace.json.gz"


def whole(given: "TraceInput", channel: Channel) -> "TraceEnd":
    """{run, rank}: chunk events {data: base64} of its newest trace. Errors: NOT_FOUND."""
    for part in open_view(channel.root, given["run"]).parts():
        for attempt in reversed(part.attempts()):
            path = trace_path(part, attempt, int(given["rank"]))
            if path.is_file():
                with open(path, "rb") as file:
                    for piece in iter(lambda: file.read(PIECE), b""):
                        channel.event("chunk", data=base64.b64encode(piece).decode())
                return {"attempt": attempt}
    raise NodeError(
        "NOT_FOUND",
        f"rank {given['rank']} of {given['run']} has no trace on this node",
        f"flexrack runs profile {given['run']}",
    )
