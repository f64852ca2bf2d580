"""history.files, .key: what somebody needs who keeps a copy of a repository elsewhere. He fetches it; this node has no
way to his copy, and can remove nothing from it.
"""

import hashlib
import re
from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.history.folder import HistoryFolder

if TYPE_CHECKING:
    from flexrack_node.schema.history import HistoryFiles, HistoryKey, HistoryProject, RepositoryFile

_NAME = re.compile(r"[0-9a-f]{64}")
_PLACES = ("keys/*", "data/*/*", "index/*", "snapshots/*")  # locks say who is at it here


def files(given: "HistoryProject", channel: Channel) -> "HistoryFiles":
    """{project} -> the repository's files, each named by the SHA-256 of its content. NOT_FOUND where nothing was saved."""
    place = saved(given, channel)
    found: List[RepositoryFile] = []
    for pattern in _PLACES:
        for file in sorted(place.repository.glob(pattern)):
            if _NAME.fullmatch(file.name) and file.is_file():
                found.append({"path": str(file.relative_to(place.repository)), "bytes": file.stat().st_size})
    return {
        "path": str(place.repository),
        "config": hashlib.sha256((place.repository / "config").read_bytes()).hexdigest(),
        "files": found,
    }


def key(given: "HistoryProject", channel: Channel) -> "HistoryKey":
    place = saved(given, channel)
    if not place.key.exists():
        raise place.key_lost()
    return {"key": place.key.read_text()}


def saved(given: "HistoryProject", channel: Channel) -> HistoryFolder:
    place = HistoryFolder(channel.root, given["project"])
    place.check_saved()
    return place
