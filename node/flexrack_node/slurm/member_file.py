"""Words to a member of a job, and of it, as files that other nodes see at once."""

import json
import os
from typing import Any, Mapping, Optional

from flexrack_node.base import stored
from flexrack_node.run.files import RunFolder


def tell(member: RunFolder, kind: str, name: str, request: Optional[Mapping[str, Any]]) -> None:
    """Writes a member's <name>.json of a kind in place, 0600: on NFS a file that was there is looked at anew whenever
    it is opened, a new one, or one that replaces it, may stay unseen for as long as the folder's attributes are cached.
    What is read half-written is read again.
    """
    with open(os.open(member.path / f"{name}.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(stored.stamped(kind, request) if request else None, file)
        file.flush()
        os.fsync(file.fileno())
