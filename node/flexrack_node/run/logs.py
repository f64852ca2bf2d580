"""Files of a run that grow, from byte offsets on."""

import time
from typing import Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.file_part import read_from
from flexrack_node.run.files import RunFolder

CHUNK = 128 * 1024
_BEAT = 5.0  # seconds of silence after which a beat is written: a caller who is gone is noticed by it


class Pace:
    """Of who follows a run: `after` each look, it says that it is still there, and rests for a moment where no log has
    grown.
    """

    def __init__(self, channel: Channel, tick: float) -> None:
        self._channel, self._tick, self._heard = channel, tick, time.monotonic()

    def after(self, sent: bool, fresh: bool, is_last: bool) -> None:
        if not sent and not fresh and time.monotonic() - self._heard > _BEAT:
            self._channel.event("beat")
            self._heard = time.monotonic()
        elif sent or fresh:
            self._heard = time.monotonic()
        if not is_last and not sent:
            time.sleep(self._tick)


def send_news(folder: RunFolder, offset: int, channel: Channel) -> Tuple[int, bool]:
    """Whole lines only of events.jsonl; returns the new offset."""
    data = read_from(folder.path / "events.jsonl", offset, CHUNK)
    end = data.rfind(b"\n") + 1
    if end:
        channel.event("news", offset=offset, lines=data[:end].decode())
    return offset + end, bool(end)
