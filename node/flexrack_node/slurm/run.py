"""A run under Slurm as verbs see it (runs/view.py): the job of slurm/job.py, and what can be done with it."""

import time
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm.job import SlurmJob

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeRun, Reconciled, RunStopped
    from flexrack_node.schema.runfiles import QueueRow
    from flexrack_node.schema.watch import NodeStacks

_TICK = 0.2  # seconds between two looks at the files of a run


class SlurmRun(SlurmJob):
    """Slurm starts and ends its processes, on nodes that are not this one. What each method is for stands in
    runs/view.py.
    """

    is_ours = False
    _reported: "Optional[QueueRow]" = None  # what Slurm said when it was waited for, or closed

    def wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        seen = self.watch() if seconds else self.look()
        while seen and time.monotonic() < deadline:
            time.sleep(max(0.0, min(_TICK, deadline - time.monotonic())))
            seen = self.watch()
        self._reported = seen

    def close(self) -> None:
        super().close()
        self._reported = self._seen

    def summary(self, known: "Optional[QueueRow]" = None) -> "NodeRun":
        return super().summary(known or self._reported)

    def is_live(self) -> bool:
        return self.look(0.0) is not None

    def is_over(self) -> bool:
        if self.folder.result():
            return True
        parts = self.members()
        # Of a start that Slurm has ended to begin another one the run is not over.
        return (
            bool(parts)
            and all(not part.is_held() for part in parts)
            and not any(or_nothing(part.result()).get("requeued") for part in parts)
        )

    def follow(self, given: Mapping[str, Any], channel: Channel) -> None:
        from flexrack_node.slurm.follow import follow

        follow(self, given, channel)

    def stacks(self, given: Mapping[str, Any], channel: Channel) -> "NodeStacks":
        from flexrack_node.slurm.stacks import stacks

        return stacks(self, given, channel)

    def stop(self, given: Mapping[str, Any]) -> None:
        from flexrack_node.slurm.stop import stop

        stop(self, given)

    def stopped(self) -> "RunStopped":
        result = self.folder.result()
        if not result:
            raise NodeError(
                "REMOTE_FAILED",
                f"job {self.job()} of {self.folder.run} is over, and Slurm does not say how it ended",
                f"flexrack runs show {self.folder.run}",
            )
        return {"status": result["status"], "left": [], "nodes": self.nodes()}

    def reconcile(
        self, given: Mapping[str, Any], one: Callable[[RunFolder, Mapping[str, Any]], "Reconciled"]
    ) -> "Reconciled":
        result = self.folder.result()
        if not result:
            self.look()  # where Slurm cannot be asked, that is said
            return {"recorded": False, "why": "the run is still going on"}
        if result.get("recorded"):
            return {"recorded": True}
        # The leader last: it closes the record, and revokes the token that the others may need.
        leader = self.leader().path
        parts: List[RunFolder] = sorted(self.parts(), key=lambda part: part.path == leader)
        for part in parts:
            answer = one(part, {**given, "leads": part.path == leader})
            if not answer["recorded"]:
                return answer
        self.folder.write("result", {**result, "recorded": True})
        return {"recorded": True}
