"""A write that was kept is sent once more: what the tracking server answers, and what that means for the write."""

import http.client
from typing import Tuple

from flexrack_node.relay.entry import Entry
from flexrack_node.run.upstream import Away, Body, Line

REPLAY_SECONDS = 20.0
REPLAY_FILE_SECONDS = 300.0


def send_again(line: Line, entry: Entry) -> Tuple[int, str]:
    body: Body = entry.file if entry.file else entry.inline
    return _call(
        line, entry.method, entry.path, entry.kind, body, REPLAY_FILE_SECONDS if entry.file else REPLAY_SECONDS
    )


def send_merged(line: Line, path: str, body: bytes) -> Tuple[int, str]:
    return _call(line, "POST", path, "application/json", body, REPLAY_SECONDS)


def _call(line: Line, method: str, path: str, kind: str, body: Body, seconds: float) -> Tuple[int, str]:
    """(HTTP status, answer); status 0 where there is none."""
    try:
        answer = line.send(method, path, {"Content-Type": kind}, body, seconds)
        return answer.status, answer.read().decode("utf-8", "replace")
    except Away as error:
        return 0, str(error)
    except (OSError, http.client.HTTPException) as error:  # the answer broke off
        line.close()
        return 0, str(error)


def is_refusal(status: int) -> bool:
    """Sending it again would change nothing. What is busy (408, 429) or wants another token (401) may say otherwise
    later.
    """
    return 400 <= status < 500 and status not in (401, 408, 429)


def is_servers_fault(status: int) -> bool:
    """An answer, but that of a server which failed: a full store of artifacts, a bug. 502, 503 and 504 are no answers
    (run/upstream.py).
    """
    return status >= 500
