"""Ends a run under Slurm: the ranks get the time that flexrack promises them, then scancel has the last word."""

import os
import time
from typing import TYPE_CHECKING, Any, Mapping, Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.slurm import commands
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.slurm.member_file import tell

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import QueueRow

# seconds after the grace in which the leader must have ended its ranks, on a shared file system that takes its time
_NOTICE = 10.0
_PATIENCE = 60.0  # seconds after scancel in which Slurm must say that the job is over: KillWait is 30 by default
_FORCE = 3.0  # seconds after scancel until SIGKILL, where there is no grace
_TICK = 0.1


def stop(run: SlurmJob, given: Mapping[str, Any]) -> None:
    """{run, grace?, kill?}: until the job is over. Raises REMOTE_FAILED where Slurm does not end the job.

    The supervisors end their ranks, as over SSH; scancel comes when that is done, and for all that does not listen. Its
    own SIGTERM, which Slurm may send twice, would break off what ranks do about the first. A job that waits is only
    taken out of the queue.
    """
    folder = run.folder
    grace = (
        0.0
        if given.get("kill")
        else float(given["grace"] if given.get("grace") is not None else run.spec.get("grace", 10))
    )
    seen = run.look(0.0)  # one that has begun a moment ago has ranks that save their state
    if seen:
        request = {"grace": grace, "kill": bool(given.get("kill")), "by": "flexrack runs stop"}
        folder.write("stop", request)
        if seen["state"] not in commands.WAITING and run.leader().state().get("pid"):
            for member in run.members():
                tell(member, "run.stop", "stop", request)
            _wait_for_ranks(run, grace + _NOTICE)
        _cancel(run)
        seen = _wait_for_slurm(run, is_hasty=bool(given.get("kill")))
    if seen:
        raise NodeError(
            "REMOTE_FAILED", f"Slurm has not ended job {run.job()} of {folder.run}", f"squeue --jobs={run.job()}"
        )


def _wait_for_ranks(run: SlurmJob, seconds: float) -> None:
    """Until the leader has written how it ended, which it does once the ranks of all nodes have."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not run.leader().result():
        os.listdir(run.leader().path)  # makes a shared file system look anew
        if not run.watch():
            return
        time.sleep(_TICK)


def _wait_for_slurm(run: SlurmJob, is_hasty: bool) -> "Optional[QueueRow]":
    """What Slurm says in the end; None: the job is over."""
    begin, seen = time.monotonic(), run.look(0.0)  # what scancel has changed is told by nothing else
    while seen and time.monotonic() - begin < _PATIENCE:
        if is_hasty and time.monotonic() - begin > _FORCE:
            is_hasty = False
            _cancel(run, "--signal=KILL")
        time.sleep(_TICK)
        seen = run.watch()
    return seen


def _cancel(run: SlurmJob, *how: str) -> None:
    job = run.job()
    if job is None:
        return
    done = commands.call(["scancel", *how, job], run.bin)
    if (
        done.returncode != 0
        and "already completing or completed" not in done.stderr
        and "Invalid job id" not in done.stderr
    ):
        raise NodeError("REMOTE_FAILED", f"scancel {job}: {commands.last_line(done.stderr)}", f"scancel {job}")
