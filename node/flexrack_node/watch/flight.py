"""Asks ranks for torch's flight recorder (instrumentation/flexrack_instrumentation_flight.py), and reads it."""

import json
import os
from pathlib import Path
from typing import Optional, TypedDict

from flexrack_node.instrumentation.flexrack_instrumentation_flight import ANSWER, ASK

_DEFAULT_GROUP = "0"


class LastQueued(TypedDict):
    """How many collectives a process group was given, and which was the last."""

    queued: int
    name: str


def ask(attempt: Path, rank: int) -> bool:
    """True where somebody is there to answer; the answer of before is taken away."""
    (attempt / f"rank-{rank}{ANSWER}").unlink(missing_ok=True)
    try:
        fd = os.open(attempt / f"rank-{rank}{ASK}", os.O_WRONLY | os.O_NONBLOCK)  # fails where nobody reads
    except OSError:
        return False
    try:
        os.write(fd, b"?")
        return True
    except OSError:
        return False
    finally:
        os.close(fd)


def read(attempt: Path, rank: int) -> Optional[LastQueued]:
    """Of the default process group; None where nothing was answered (yet)."""
    try:
        return parse((attempt / f"rank-{rank}{ANSWER}").read_text())
    except OSError:
        return None


def parse(text: str) -> Optional[LastQueued]:
    """The same of the answer: a list of what _dump_fr_trace_json and _dump_nccl_trace_json (torch 2.13) gave."""
    best: Optional[LastQueued] = None
    try:
        for recorded in json.loads(text):
            queued = int(recorded.get("pg_status", {}).get(_DEFAULT_GROUP, {}).get("last_enqueued_collective", -1))
            if queued < 0 or (best and queued <= best["queued"]):
                continue
            names = [
                one["profiling_name"]
                for one in recorded.get("entries", [])
                if one["process_group"][0] == _DEFAULT_GROUP
                and one["collective_seq_id"] == queued
                and not one.get("is_p2p")
            ]
            best = {"queued": queued, "name": names[-1].rpartition(":")[2] if names else "collective"}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return best
    return best
