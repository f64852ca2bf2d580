"""Completes a run's record in MLflow from the node's files: outputs, logs, how it ended. Safe to repeat."""

import http.client
import json
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, TypedDict

from flexrack_node.run.files import RunFolder
from flexrack_node.run.recorded import NotRecorded
from flexrack_node.run.upstream import Upstream

if TYPE_CHECKING:
    from flexrack_node.schema.order import TrackingOrder
    from flexrack_node.schema.result import Cause, RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder

_STATUS = {"finished": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}
_TIMEOUT = 60.0
_MAX_LOG = 50 * 1024 * 1024  # of a rank's log that is uploaded: the end of it


class Metric(TypedDict):
    """Of log-batch; `timestamp`: milliseconds since 1970."""

    key: str
    value: float
    timestamp: int
    step: int


class Recorder:
    """Speaks to the relay, or to the tracking server itself, in the name of one run."""

    def __init__(self, upstream: Upstream, tracking: "TrackingOrder") -> None:
        self._base = upstream.url
        self._tracking = tracking
        self._upstream = upstream

    def finish(self, spec: "KeptRunOrder", result: "RunResult") -> None:
        """Status, end time and tags. Raises NotRecorded, also where Slurm starts the run again, or may: then it has not
        ended.
        """
        if result.get("requeued") or result.get("open"):
            raise NotRecorded("the run has not ended: Slurm starts its job again, or may")
        run = self._tracking["run_id"]
        cause = result.get("cause")
        tags = {
            "flexrack.exit": str(result["exit"]),
            "flexrack.duration": f"{result['duration']:.3f}",
            "flexrack.attempts": str(len(result.get("attempts", []))),
            "flexrack.cause": describe_cause(cause) if cause else "",
        }
        for key, value in tags.items():
            if value:
                self.tag(key, value)
        self._post(
            "runs/update",
            {
                "run_id": run,
                "run_uuid": run,
                "status": _STATUS[result["status"]],
                "end_time": int(result["ended"] * 1000),
            },
        )

    def tag(self, key: str, value: str) -> None:
        """Raises NotRecorded."""
        run = self._tracking["run_id"]
        self._post("runs/set-tag", {"run_id": run, "run_uuid": run, "key": key, "value": value})

    def upload(self, path: Path, name: str) -> int:
        """A file as an artifact of that name; 0 where the run's artifacts are not behind the server. Raises NotRecorded."""
        return self._upload(path, name)

    def log_metrics(self, metrics: "List[Metric]") -> None:
        """Up to a thousand values {key, value, timestamp, step} in one call. Raises NotRecorded."""
        self._post("runs/log-batch", {"run_id": self._tracking["run_id"], "metrics": metrics})

    def upload_logs(self, folder: RunFolder) -> int:
        """Every rank's log of this node, as logs/attempt-<k>/rank-<r>.log. Returns how many."""
        count = 0
        for attempt in folder.attempts():
            for path in sorted(folder.attempt(attempt).glob("*.log")):
                name = path.name if path.name != "agent.log" else f"launcher-{folder.spec()['node']}.log"
                if path.stat().st_size or path.name != "agent.log":
                    count += self._upload(path, f"logs/attempt-{attempt}/{name}", tail=_MAX_LOG)
        return count

    def upload_outputs(self, folder: RunFolder, names: List[str]) -> int:
        """The outputs, under their own names. Returns how many files."""
        return sum(self._upload(folder.outputs / name, name) for name in names if (folder.outputs / name).is_file())

    def revoke(self, after: float = 0.0) -> None:
        """Makes the run's token worthless, at once or after so many seconds; where the head is away, it does so itself
        an hour after the run's end.
        """
        data = json.dumps({"ttl_seconds": after}).encode() if after else None
        request = urllib.request.Request(
            f"{self._base}/flexrack/v1/tokens/self", data=data, method="PATCH" if after else "DELETE"
        )
        try:
            self._open(request)
        except NotRecorded:
            pass

    def _upload(self, path: Path, name: str, tail: Optional[int] = None) -> int:
        """One artifact through the server's proxy; 0 where the run's artifacts are not behind one."""
        uri = urllib.parse.urlsplit(self._tracking.get("artifact_uri") or "")
        if uri.scheme != "mlflow-artifacts":
            return 0
        target = urllib.parse.quote(f"{uri.path.strip('/')}/{name}")
        size = path.stat().st_size
        with open(path, "rb") as file:
            if tail is not None and size > tail:
                file.seek(size - tail)
                size = tail
            request = urllib.request.Request(
                f"{self._base}/api/2.0/mlflow-artifacts/artifacts/{target}", data=_Exactly(file, size), method="PUT"
            )
            request.add_header("Content-Length", str(size))
            request.add_header("Content-Type", "application/octet-stream")
            self._open(request)
        return 1

    def _post(self, path: str, value: Mapping[str, object]) -> None:
        request = urllib.request.Request(
            f"{self._base}/api/2.0/mlflow/{path}", data=json.dumps(value).encode(), method="POST"
        )
        request.add_header("Content-Type", "application/json")
        self._open(request)

    def _open(self, request: urllib.request.Request) -> None:
        if self._upstream.authorization:
            request.add_header("Authorization", self._upstream.authorization)
        # The head is reached directly.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Securely(self._upstream))
        try:
            with opener.open(request, timeout=_TIMEOUT) as answer:
                answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise NotRecorded(
                f"{request.get_method()} {urllib.parse.urlsplit(request.full_url).path}: {error}"
            ) from None


class _Securely(urllib.request.HTTPSHandler):
    """Trusts whom the upstream trusts."""

    def __init__(self, upstream: Upstream) -> None:
        super().__init__()
        self._upstream = upstream

    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(self._upstream.secure_connection, request, context=self._upstream.tls)


class _Exactly:
    """The next `size` bytes of a file that may still grow."""

    def __init__(self, file: Any, size: int) -> None:
        self._file, self._left = file, size

    def read(self, count: int = -1) -> bytes:
        data = self._file.read(self._left if count < 0 else min(count, self._left))
        self._left -= len(data)
        found: bytes = data
        return found


def describe_cause(cause: "Cause") -> str:
    """One line: `rank 3 on node-2 ended with 17: the last thing it said`."""
    who = f"rank {cause['rank']} on {cause['node']}" if cause.get("rank") is not None else cause["node"]
    how = (
        f" was killed by SIG{cause['signal']}"
        if cause.get("signal")
        else f" ended with {cause['exit']}"
        if cause.get("exit") is not None
        else ""
    )
    message = f": {cause['message']}" if cause.get("message") else ""
    return f"{who}{how}{message}"[:1000]
