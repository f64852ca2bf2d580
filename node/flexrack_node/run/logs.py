"""Files of a run that grow, from byte offsets on."""
from pathlib import Path
from typing import Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.run.files import RunFolder

CHUNK = 128 * 1024


def send_news(folder: RunFolder, offset: int, channel: Channel) -> Tuple[int, bool]:
    """Whole lines only of events.jsonl; returns the new offset."""
    data = read(folder.path / "events.jsonl", offset)
    end = data.rfind(b"\n") + 1
    if end:
        channel.event("news", offset=offset, lines=data[:end].decode())
    return offset + end, bool(end)


def read(path: Path, offset: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(CHUNK)
    except FileNotFoundError:
        return b""
