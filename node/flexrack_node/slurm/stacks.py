"""run.stacks of a run under Slurm: the login node asks, the supervisor of every node of the job takes its ranks' stacks
and answers, by files in the nodes' parts:

    members/<i>/stacks.json         {number, rank}: what is asked for; null before anybody asks
    members/<i>/stacks-reported.json    {number, attempt, ranks} or {number, problem}: the answer to that number

Both are there from the part's beginning and are written in place, for shared file systems that are slow to show a new
name (slurm.member_file.tell).
"""

import secrets
import threading
import time
from typing import TYPE_CHECKING, Any, Dict, List, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock, check_caller
from flexrack_node.base.stored import read
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm.job import SlurmJob
from flexrack_node.slurm.member_file import tell
from flexrack_node.watch.stacks import dump

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import StackAnswer
    from flexrack_node.schema.watch import NodeStacks

_TICK = 0.25  # seconds between two looks whether somebody asks: so far apart nodes take their stacks, at most
_PATIENCE = 20.0  # seconds for a node to answer; py-spy needs some, and so does a shared file system
_REQUESTED = ("run.stack_request", "stacks")
_REPORTED = ("run.stack_answer", "stacks-reported")
_NOT_YET = ("CONFIGURING", "PENDING")


def stacks(run: SlurmJob, given: Mapping[str, Any], channel: Channel) -> "NodeStacks":
    """As PlainRun.stacks, of all nodes of the job; `failed`: [{node, message}], those that did not answer. Errors:
    CONFLICT where the job does not run, or no rank does; NODE_UNREACHABLE where no node answers, or Slurm does not.
    """
    folder = run.folder
    job = _running(run)
    members = run.members()
    if not members:
        raise NodeError(
            "CONFLICT",
            f"job {job} of {folder.run} has just begun, and no rank of it yet",
            f"flexrack runs logs {folder.run} -f",
        )
    with FileLock(folder.path / "stacks.lock", channel, f"looking at the stacks of {folder.run}"):
        answers = _ask(members, given.get("rank"))
    silent = {node: f"it did not answer within {_PATIENCE:.0f} s" for node in run.nodes() if node not in answers}
    failed = {**silent, **{node: answer["problem"] for node, answer in answers.items() if "problem" in answer}}
    reported = [answer for answer in answers.values() if "problem" not in answer]
    if not reported:
        node, why = next(iter(failed.items()))
        raise NodeError(
            "NODE_UNREACHABLE",
            f"no node of job {job} of {folder.run} told its stacks; {node}: {why}",
            f"flexrack runs show {folder.run}",
        )
    ranks = [one for answer in reported for one in answer["ranks"]]
    if not ranks and given.get("rank") is None and not failed:
        raise NodeError(
            "CONFLICT", f"no rank of {folder.run} is alive in job {job}", f"flexrack runs show {folder.run}"
        )
    return {
        "node": folder.spec()["node"],
        "attempt": max(answer["attempt"] for answer in reported),
        "ranks": ranks,
        "failed": [{"node": node, "message": why} for node, why in failed.items()],
    }


def begin_answering(member: RunFolder) -> None:
    """On a node of the job: from now on, and as long as this process lives, it answers in a thread."""
    for what in (_REQUESTED, _REPORTED):
        tell(member, *what, None)
    threading.Thread(target=_answer, args=(member,), daemon=True).start()


def _running(run: SlurmJob) -> str:
    """The job's number. Raises CONFLICT where none of its processes run, and says why."""
    seen = run.look(0.0)  # one that was suspended a moment ago would be waited for in vain
    name = run.folder.run
    if not seen:
        raise NodeError(
            "CONFLICT",
            f"{name} is over ({(run.folder.result() or {'status': 'Slurm has ended it'})['status']}): no rank of it is alive",
            f"flexrack runs show {name}",
        )
    if seen["state"] == "RUNNING":
        return str(seen["job"])
    job = f"job {seen['job']} of {name}" if seen["job"] else f"the job of {name}"
    why = f" ({seen['reason']})" if seen["reason"] else ""
    if seen["state"] in _NOT_YET:
        raise NodeError(
            "CONFLICT", f"{job} waits in Slurm{why}: no rank of it runs yet", f"flexrack runs logs {name} -f"
        )
    raise NodeError(
        "CONFLICT",
        f"{job} is {seen['state'].lower()} in Slurm{why}: its ranks do not run",
        f"flexrack runs show {name}",
    )


def _ask(members: List[RunFolder], rank: Any) -> "Dict[str, StackAnswer]":
    """Answers by node; who does not answer in time is missing."""
    number = secrets.token_hex(8)
    for member in members:
        tell(member, *_REQUESTED, {"number": number, "rank": rank})
    answers: Dict[str, StackAnswer] = {}
    end = time.monotonic() + _PATIENCE
    waiting = {member.spec()["node"]: member for member in members}
    while waiting and time.monotonic() < end:
        for node, member in list(waiting.items()):
            answer = read("run.stack_answer", member.path / f"{_REPORTED[1]}.json")
            if answer and answer["number"] == number:
                answers[node] = answer
                del waiting[node]
        check_caller()
        time.sleep(0.05)
    return answers


def _answer(member: RunFolder) -> None:
    done = None
    while True:
        time.sleep(_TICK)
        try:
            requested = read("run.stack_request", member.path / f"{_REQUESTED[1]}.json")
            if requested and requested["number"] != done:
                done = requested["number"]
                tell(member, *_REPORTED, {"number": done, **_take(member, requested["rank"])})
        except (OSError, NodeError):
            pass  # the shared file system was away, or a newer flexrack asks: it is told that this node did not answer


def _take(member: RunFolder, rank: Any) -> Dict[str, Any]:
    attempts = member.attempts()
    try:
        return {
            "attempt": attempts[-1] if attempts else 0,
            "ranks": dump(member, attempts[-1], rank) if attempts else [],
        }
    except Exception as error:  # the thread goes on, and who asked is told
        return {"problem": f"its stacks could not be taken: {error!r}"}
