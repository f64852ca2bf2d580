"""run.follow of a run under Slurm: what the queue says while it waits, then the logs of all its nodes from the shared
folder.
"""

import base64
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.file_part import read_from
from flexrack_node.run.logs import CHUNK, Pace, send_news
from flexrack_node.slurm.job import SlurmJob

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import QueueRow

_TICK = 0.1


def follow(run: SlurmJob, given: Mapping[str, Any], channel: Channel) -> None:
    """As runs.follow; a chunk also has `node`, and there are events `queue` {state, reason, start, job, requeued:
    SlurmJob.requeued} at every change.
    """
    offsets: Dict[str, int] = {str(key): int(value) for key, value in (given.get("offsets") or {}).items()}
    news, reported, pace = int(given.get("news") or 0), None, Pace(channel, _TICK)
    seen: Optional[QueueRow] = None
    while True:
        newest = run.watch()
        if newest is not seen:
            seen = newest
            state = (
                {
                    "job": seen["job"],
                    "state": seen["state"],
                    "reason": seen["reason"],
                    "start": seen["start"],
                    "requeued": run.requeued(seen["state"]),
                }
                if seen
                else None
            )
            if state and state != reported:
                channel.event("queue", **state)
                reported = state
        over = not given.get("follow") or newest is None  # before reading: what was written until now is read below
        sent = _send_new(run, offsets, channel)
        news, fresh = send_news(run.leader(), news, channel)
        pace.after(sent, fresh, over)
        if over:
            return


def _send_new(run: SlurmJob, offsets: Dict[str, int], channel: Channel) -> bool:
    """One chunk at most of each file in turn. A launcher's own log is of no rank and has no place here."""
    sent = more = False
    while more or not sent:
        more = False
        for member in run.parts():
            node = member.spec().get("node")
            for number in member.attempts():
                for path in sorted(member.attempt(number).glob("rank-*.log")):
                    key = f"{number}/{path.name}"
                    data = read_from(path, offsets.get(key, 0), CHUNK)
                    if data:
                        channel.event(
                            "chunk",
                            attempt=number,
                            file=path.name,
                            node=node,
                            offset=offsets.get(key, 0),
                            data=base64.b64encode(data).decode(),
                        )
                        offsets[key] = offsets.get(key, 0) + len(data)
                        sent, more = True, more or len(data) == CHUNK
        if not more:
            break
    return sent
