"""usage.read: what runs had of this node: the log (measure/usage.py), and of runs that go on, or were killed, what
their folders tell.
"""

import time
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.measure.usage import account, entries_of, key_of, logged
from flexrack_node.run.files import all_runs
from flexrack_node.runs.view import view_of

if TYPE_CHECKING:
    from flexrack_node.schema.usage import NodeUsage, UsageSince


def read(given: "Optional[UsageSince]", channel: Channel) -> "NodeUsage":
    """{since?: seconds since 1970}: {account, now, entries: [a line each, and "open": true where it still runs]}, those
    that ended after `since`.
    """
    since, now = float((given or {}).get("since") or 0), time.time()
    found: Dict[Tuple[str, str, int], Any] = {key_of(entry): {**entry, "open": False} for entry in logged(channel.root)}
    for folder in all_runs(channel.root):
        for part in view_of(folder).parts():
            for entry in entries_of(part, now):
                found.setdefault(key_of(entry), entry)
    return {"account": account(), "now": now, "entries": [entry for entry in found.values() if entry["ended"] >= since]}
