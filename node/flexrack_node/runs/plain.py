"""A run that supervisors of ours keep, as one of its nodes sees it: read from its folder, and changed in nothing but
`stop` (runs/view.py).
"""

import time
from typing import TYPE_CHECKING, Any, Callable, List, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.process.containment import Containment
from flexrack_node.run.files import RunFolder, containment_tag
from flexrack_node.run.leadership import is_committed, leader_known, may_be_led_on

if TYPE_CHECKING:
    from flexrack_node.schema.run import NodeRun, NodeRunDetail, Reconciled, RunStopped
    from flexrack_node.schema.watch import NodeStacks

_STOP_PATIENCE = 20.0


class PlainRun:
    """What each method is for stands in runs/view.py."""

    is_ours = True

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder

    def parts(self) -> List[RunFolder]:
        return [self.folder]

    def members(self) -> List[RunFolder]:
        return [self.folder]

    def is_live(self) -> bool:
        return self.folder.is_held() or self._is_awaited()

    def _is_awaited(self) -> bool:
        """It is started again in a moment, after a reboot."""
        if (self.folder.path / "result.json").exists():
            return False
        from flexrack_node.runs.returning import is_awaited  # only here: a listing of what is over needs none

        return is_awaited(self.folder)

    def is_over(self) -> bool:
        return not self.folder.is_held()

    def close(self) -> None:
        """Its supervisor does, else runs/repair.py."""

    def wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.is_live() and time.monotonic() < deadline:
            time.sleep(0.1)

    def alive(self) -> List[int]:
        """Processes of the run's ranks that are alive on this node right now."""
        spec = self.folder.spec()
        found: List[int] = []
        for attempt in self.folder.attempts():
            found += Containment(containment_tag(spec, attempt), self.folder.path, look_only=True).pids()
        return found

    def summary(self) -> "NodeRun":
        folder = self.folder
        spec, now, result = folder.spec(), folder.state(), folder.result()
        term, leader = leader_known(spec, now, result)
        is_held = folder.is_held()
        is_awaited = not is_held and self._is_awaited()
        return {
            "run": folder.run,
            "project": spec.get("project"),
            "node": spec["node"],
            "index": spec["index"],
            "term": term,
            "leader": leader,
            "committed": is_committed(result),
            "replaceable": may_be_led_on(spec),
            "nodes": spec["nodes"],
            "members": now.get("members") or spec["nodes"][: or_nothing(spec.get("size")).get("max")],
            "processes": spec["processes"],
            "launcher": spec["launcher"],
            "created": float(spec.get("created") or 0),
            "status": result["status"]
            if result
            else "waiting"
            if is_awaited
            else "starting"
            if now["status"] == "unknown" or now["status"] == "ended"
            else now["status"],
            "attempt": now.get("attempt", 0),
            "live": is_held or is_awaited,
            "returned": now.get("returned", 0),
            "gang": now.get("gang"),
            "exit": result["exit"] if result else None,
            "cause": result.get("cause") if result else None,
            "started": result["started"] if result else now.get("started"),
            "ended": result["ended"] if result else None,
            "recorded": result.get("recorded") if result else None,
            "tracked": or_nothing(spec.get("tracking")).get("run_id"),
        }

    def detail(self) -> "NodeRunDetail":
        """The summary, every record, the result, and what the user asked for; never the secrets of the spec."""
        from flexrack_node.watch.hang import hangs  # only here: a listing needs none

        folder = self.folder
        spec = folder.spec()
        result: Any = folder.result()
        records: Any = {
            str(number): {str(rank): record for rank, record in sorted(folder.records(number).items())}
            for number in folder.attempts()
        }
        return {
            **self.summary(),
            "command": spec["command"],
            "environment": spec.get("environment"),
            "commit": spec.get("commit"),
            "code": spec.get("code"),
            "data": spec.get("data") or [],
            "uploads": spec.get("uploads") or [],
            "uploaded": read("run.upload", folder.attempt(folder.attempts()[-1]) / "upload.json")
            if spec.get("uploads") and folder.attempts()
            else None,
            "folder": str(folder.path),
            "records": records,
            "alive": self.alive(),
            "result": result,
            "hangs": hangs(folder),
        }

    def follow(self, given: Mapping[str, Any], channel: Channel) -> None:
        from flexrack_node.runs.follow import follow

        follow(self.folder, given, channel, self.is_live)

    def stacks(self, given: Mapping[str, Any], channel: Channel) -> "NodeStacks":
        from flexrack_node.watch.stacks import dump

        folder = self.folder
        attempts = folder.attempts()
        ranks = dump(folder, attempts[-1], given.get("rank")) if attempts and folder.is_held() else []
        if not ranks and given.get("rank") is None:
            raise NodeError(
                "CONFLICT", f"no rank of {folder.run} is alive on this node", f"flexrack runs show {folder.run}"
            )
        return {"node": folder.spec()["node"], "attempt": attempts[-1] if attempts else 0, "ranks": ranks}

    def stop(self, given: Mapping[str, Any]) -> None:
        folder = self.folder
        grace = (
            0.0
            if given.get("kill")
            else float(given["grace"] if given.get("grace") is not None else folder.spec().get("grace", 10))
        )
        if folder.result() or not self.is_live():
            return
        old = folder.stop_request()
        if not old or given.get("kill") or given.get("grace") is not None:
            folder.write("stop", {"grace": grace, "kill": bool(given.get("kill")), "by": "flexrack runs stop"})
        if not folder.is_held():  # it was cut off by a reboot, and is not taken up any more
            return
        deadline = time.monotonic() + grace + _STOP_PATIENCE
        while time.monotonic() < deadline and folder.is_held() and not folder.result():
            now = or_nothing(folder.stop_request())
            if now.get("kill") and grace > 0:  # somebody was less patient in the meantime
                grace, deadline = 0.0, time.monotonic() + _STOP_PATIENCE
            time.sleep(0.05)

    def stopped(self) -> "RunStopped":
        state = self.summary()
        return {"status": state["status"], "left": self.alive(), "state": state}

    def reconcile(
        self, given: Mapping[str, Any], one: Callable[[RunFolder, Mapping[str, Any]], "Reconciled"]
    ) -> "Reconciled":
        return one(self.folder, given)
