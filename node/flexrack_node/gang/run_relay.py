"""The relay of a run on its node (package `relay`), as the supervisor has it: opened before the ranks start, drained at
the end. Not there where the run is tracked nowhere.
"""

from typing import TYPE_CHECKING, Any, Mapping, Optional

from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.run.recording import Recorder
    from flexrack_node.schema.order import TrackingOrder
    from flexrack_node.schema.runfiles import KeptRunOrder

DRAIN_SECONDS = 5.0  # for tracking writes that wait, at the end; what is left stays in the spool


class RunRelay:
    """The node's relay for this run, and its address."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder", tracking: "TrackingOrder") -> None:
        # Only where something is tracked: what speaks HTTP and TLS is slow to read.
        from flexrack_node.measure.kept import KeptWord
        from flexrack_node.relay.relay import Relay
        from flexrack_node.run.recording import Recorder
        from flexrack_node.run.upstream import Upstream, upstream_of

        self._folder = folder
        self._relay = Relay(
            folder.spool,
            upstream_of(tracking),
            tracking["token"],
            on_event=self._tell,
            run_id=tracking["run_id"],
        )
        self.port: int = self._relay.start()
        self._recorder = Recorder(Upstream(f"http://127.0.0.1:{self.port}", f"Bearer {tracking['token']}"), tracking)
        is_counted = tracking.get("own_token") and spec.get("reservation")  # Slurm's jobs count for no quota
        self._kept = KeptWord(folder, spec, tracking) if is_counted else None
        if self._kept:
            self._kept.begin()

    def recorder(self) -> "Recorder":
        return self._recorder

    def metric_at(self) -> float:
        return self._relay.metric_at

    def close(self) -> bool:
        """True where nothing is left in the spool."""
        if self._kept:
            self._kept.end()
        left = self._relay.close(DRAIN_SECONDS)
        self._folder.event("relay closed", **left)
        return not left["pending"]

    def _tell(self, event: Mapping[str, Any]) -> None:
        self._folder.event(event["event"], **{key: value for key, value in event.items() if key != "event"})


def open_relay(folder: RunFolder, spec: "KeptRunOrder") -> Optional[RunRelay]:
    tracking = spec.get("tracking")
    return RunRelay(folder, spec, tracking) if tracking else None


def end_token(tracking: "TrackingOrder", after: float) -> None:
    """The run's token, at once or after so many seconds."""
    from flexrack_node.run.recording import Recorder
    from flexrack_node.run.upstream import upstream_of

    Recorder(upstream_of(tracking), tracking).revoke(after)
