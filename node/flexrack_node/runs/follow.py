"""The logs of a run's ranks on this node, from byte offsets on, as they grow."""

import base64
import os
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, Mapping, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.file_part import read_from
from flexrack_node.run.files import RunFolder
from flexrack_node.run.logs import CHUNK, Pace, send_news

_TICK = 0.05


def follow(folder: RunFolder, given: Mapping[str, Any], channel: Channel, is_live: Callable[[], bool]) -> None:
    """The events of run.follow, as verbs.look.follow tells of them."""
    offsets: Dict[str, int] = {str(key): int(value) for key, value in (given.get("offsets") or {}).items()}
    news, reported, pace = int(given.get("news") or 0), None, Pace(channel, _TICK)
    while True:
        over = not given.get("follow") or not is_live()  # before reading: what was written until now is read below
        sent = _send_new(folder, offsets, channel)
        news, fresh = send_news(folder, news, channel)
        state = {**folder.state(), "ended": bool(folder.result())}
        if state != reported:
            channel.event("state", **state)
            reported = state
        pace.after(sent, fresh, over)
        if over:
            return


def _send_new(folder: RunFolder, offsets: Dict[str, int], channel: Channel) -> bool:
    """One chunk at most of each file, so that a rank that floods does not hide the others."""
    sent = False
    more = True
    while more:
        more = False
        for key, attempt, path in _logs(folder):
            offset = offsets.get(key, 0)
            data = read_from(path, offset, CHUNK)
            if data:
                channel.event(
                    "chunk", attempt=attempt, file=path.name, offset=offset, data=base64.b64encode(data).decode()
                )
                offsets[key] = offset + len(data)
                sent, more = True, more or len(data) == CHUNK
    return sent


def _logs(folder: RunFolder) -> Iterator[Tuple[str, int, Path]]:
    for attempt in folder.attempts():
        for name in sorted(os.listdir(folder.attempt(attempt))):
            if name.endswith(".log"):
                yield f"{attempt}/{name}", attempt, folder.attempt(attempt) / name
