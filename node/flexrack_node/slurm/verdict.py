"""How a run under Slurm ended: what Slurm says of its job, together with what its leader wrote down. Pure, but for the
clock.
"""

import time
from typing import TYPE_CHECKING, Any, List, Literal, Optional

from flexrack_node.base.stored import or_nothing
from flexrack_node.run.cause import close_result
from flexrack_node.slurm.starts import PREEMPTED

if TYPE_CHECKING:
    from flexrack_node.schema.result import Cause, RunAttempt, RunResult, SlurmEnd
    from flexrack_node.schema.runfiles import KeptRunOrder, QueueRow

# Ends that are Slurm's own doing, see JOB STATE CODES in squeue(1).
_REASONS = {
    "TIMEOUT": "its time limit was reached",
    "NODE_FAIL": "one of its nodes failed",
    "PREEMPTED": PREEMPTED,
    "OUT_OF_MEMORY": "it used more memory than it was given",
    "BOOT_FAIL": "a node of it did not boot",
    "DEADLINE": "it could not end before its deadline",
    "LAUNCH_FAILED": "it could not be launched on a node",
    "REVOKED": "another cluster took it over",
}


def judge(
    spec: "KeptRunOrder", seen: "Optional[QueueRow]", leader: "Optional[RunResult]", requested: bool, lines: List[str]
) -> "RunResult":
    """result.json of the whole run. `seen`: slurm.commands.look, None where Slurm has forgotten the job; `leader`: its
    result; `asked`: somebody stopped the run through flexrack; `lines`: the end of the job's own output. `spec` has the
    attempts of the job's earlier starts, where it ended before a leader of the newest left a result.
    """
    job = or_nothing(seen).get("job") or spec["slurm"].get("job")
    state = or_nothing(seen).get("state")
    note: SlurmEnd = {"job": job, "state": state, "source": seen["source"] if seen else "records"}
    known = leader if leader and not leader.get("provisional") else None
    if leader and leader["status"] == "finished":  # every rank wrote down that it ended well
        return {**leader, "slurm": note}
    if state in _REASONS:
        return _closed(spec, seen, leader, "failed", _blame(spec, state, job, leader, lines), note)
    if state == "CANCELLED":
        if leader and leader["status"] == "failed" and known:
            return {**leader, "slurm": note}
        who = f" by {seen['by']}" if seen and seen.get("by") else ""
        return _closed(
            spec,
            seen,
            leader,
            "stopped",
            None if requested else _cause(spec, f"job {job} was cancelled in Slurm{who} (CANCELLED)", []),
            note,
        )
    if leader:
        return {**leader, "slurm": note}
    if requested:
        return _closed(spec, seen, None, "stopped", None, note)
    if seen is None:
        return _closed(
            spec,
            seen,
            None,
            "failed",
            _cause(spec, f"Slurm does not know job {job} any more, and the run left no result", lines),
            note,
        )
    exit_code = f" with {seen['exit']}" if seen.get("exit") else ""
    said = f": {lines[-1]}" if lines else ""
    return _closed(
        spec,
        seen,
        None,
        "failed",
        _cause(spec, f"job {job} ended{exit_code} ({state}) before its ranks left a result{said}", lines),
        note,
    )


def after_signal(
    spec: "KeptRunOrder", result: "RunResult", at: float, requested: bool, seen: "Optional[QueueRow]"
) -> "RunResult":
    """The leader's own judgement where Slurm sent SIGTERM at `at`, because flexrack `asked` for it or for a reason of
    its own.

    Of a job that is COMPLETING Slurm tells no more than a reason (`TimeLimit`) and whether it will start it again
    (`requeued`: {why}), so all but these is provisional until the job is over. `open`: it may be started again, nobody
    could be asked, so the run's record is not closed.
    """
    attempts = result.get("attempts", [])
    ended = attempts[-1].get("ended", result["ended"]) if attempts else result["ended"]
    failed_at = or_nothing(result.get("cause")).get("at", ended)
    if result["status"] != "stopped" and (at > ended or (result["status"] == "failed" and failed_at < at)):
        return result  # it was over before
    if attempts:
        last: RunAttempt = {**attempts[-1], "status": "stopped", "cause": None}
        attempts = [*attempts[:-1], last]
    result = {**result, "status": "stopped", "exit": 130, "cause": None, "attempts": attempts}
    if requested:
        return result
    if seen and seen.get("reason") == "TimeLimit":
        note: SlurmEnd = {"job": seen["job"], "state": "TIMEOUT", "source": seen["source"]}
        return _closed(
            spec, {**seen, "state": "TIMEOUT"}, result, "failed", _blame(spec, "TIMEOUT", seen["job"], None, []), note
        )
    job = seen["job"] if seen else spec["slurm"].get("job")
    if seen and seen.get("restarts", 0) > spec["slurm"].get("start", 0):
        why = PREEMPTED if seen.get("preempted") else None
        return {
            **result,
            "requeued": {"why": why},
            "cause": _cause(spec, f"Slurm requeued job {job}{f': {why}' if why else ''}", []),
        }
    if not seen and spec["slurm"].get("requeue"):
        result = {**result, "open": True}
    return {**result, "provisional": True, "cause": _cause(spec, f"Slurm ended job {job}", [])}


def _closed(
    spec: "KeptRunOrder",
    seen: "Optional[QueueRow]",
    leader: "Optional[RunResult]",
    status: Literal["failed", "stopped"],
    cause: "Optional[Cause]",
    note: "SlurmEnd",
) -> "RunResult":
    attempts = list(leader["attempts"] if leader else spec.get("attempts", []))
    begun = or_nothing(leader).get("started") or next((one["started"] for one in attempts if "started" in one), None)
    started = (
        begun
        or or_nothing(seen).get("start")
        or or_nothing(seen).get("submitted")
        or spec.get("created")
        or time.time()
    )
    ended = or_nothing(leader).get("ended") or or_nothing(seen).get("ended") or time.time()
    if attempts and attempts[-1].get("status") == "stopped" and not attempts[-1].get("changes"):
        attempts[-1] = {**attempts[-1], "status": status}
    result = close_result(spec, {"status": status, "cause": cause, "attempts": attempts}, started)
    started = min(started, ended)  # a job that was cancelled while it waited has an estimate, and no beginning
    if leader and "outputs" in leader:
        result["outputs"] = leader["outputs"]
    return {**result, "started": started, "ended": ended, "duration": ended - started, "slurm": note}


def _blame(spec: "KeptRunOrder", state: str, job: Any, leader: "Optional[RunResult]", lines: List[str]) -> "Cause":
    """Slurm's word, with the rank that the leader had found before, where there is one."""
    message = f"Slurm ended job {job}: {_REASONS[state]} ({state})"
    first = or_nothing(leader).get("cause")
    if first and first.get("rank") is not None:
        return {**first, "message": message}
    return _cause(spec, message, lines)


def _cause(spec: "KeptRunOrder", message: str, lines: List[str]) -> "Cause":
    return {
        "kind": "slurm",
        "node": spec["node"],
        "rank": None,
        "exit": None,
        "signal": None,
        "at": time.time(),
        "message": message,
        "lines": lines,
        "others": [],
    }
