"""What Prometheus is to watch, as the head keeps it. Generated from protocol/monitor.json by `npm run protocol`; for type checkers alone."""
from typing import Dict, List, TypedDict


class _HeadTargets(TypedDict):
    targets: List[str]
    labels: Dict[str, str]


class HeadTargets(_HeadTargets, total=False):
    """A group of Prometheus' http_sd; it goes away by itself at `until`, milliseconds since 1970."""
    until: float
