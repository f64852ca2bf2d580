"""Many kept metrics in one call: a training loop that logged for an hour is caught up with in seconds."""

import json
import re
from typing import Any, Dict, List, Optional, Tuple

from flexrack_node.relay.entry import Entry

# Limits of log-batch: 1000 items and 1 MB (MLflow's documentation of the endpoint).
MOST_METRICS = 900
MOST_BYTES = 800_000

ONE_METRIC = re.compile(r"(/api/2\.0/(?:preview/)?mlflow/runs/)log-metric$")
BATCH = re.compile(r"(/api/2\.0/(?:preview/)?mlflow/runs/)log-batch$")
FIELDS = ("key", "value", "timestamp", "step", "model_id", "dataset_name", "dataset_digest")


def merge(entries: List[Entry]) -> Tuple[int, Optional[str], bytes]:
    """How many of the first entries are metrics of one run that go into one log-batch, its path and its body.

    Fewer than two: (1, None, b""), the first entry goes as it is. Params and tags are not merged: the same key twice
    in one call is refused.
    """
    run: Optional[str] = None
    path: Optional[str] = None
    metrics: List[Dict[str, Any]] = []
    size = taken = 0
    for entry in entries:
        found = read_metrics(entry)
        if found is None:
            break
        prefix, run_id, own = found
        size += len(entry.inline)
        if (
            (path is not None and (prefix, run_id) != (path, run))
            or len(metrics) + len(own) > MOST_METRICS
            or size > MOST_BYTES
        ):
            break
        path, run = prefix, run_id
        metrics += own
        taken += 1
    if taken < 2 or path is None:
        return 1, None, b""
    return taken, path + "log-batch", json.dumps({"run_id": run, "metrics": metrics}).encode()


def read_metrics(entry: Entry) -> "Optional[Tuple[str, str, List[Dict[str, Any]]]]":
    """(path before the call's name, run, metrics) of a call that logs nothing but metrics of one run, else None."""
    one, batch = ONE_METRIC.match(entry.path), BATCH.match(entry.path)
    if entry.file or not (one or batch):
        return None
    try:
        body = json.loads(entry.inline)
        run_id = body.get("run_id") or body["run_uuid"]
        if one:
            return one.group(1), run_id, [{key: body[key] for key in FIELDS if key in body}]
        if batch and set(body) <= {"run_id", "run_uuid", "metrics"}:
            return batch.group(1), run_id, list(body["metrics"])
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    return None
