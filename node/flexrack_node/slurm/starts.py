"""The starts of a job: Slurm may put a job back into its queue (preemption, a node that failed, scontrol requeue) and
start its script again, as the same job.

Every start has parts of its own, `members/<i>` and then `members-<n>/<i>`, where n is Slurm's SLURM_RESTART_COUNT:
nothing of an earlier start is taken for something of this one, also by a node whose view of the shared file system is
old. Attempts are counted on. What the ranks left, FLEXRACK_OUTPUTS with the checkpoints, and the run's events go on in
the place where they were, as links.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, List, Optional

from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.run.cause import close_result
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import GangOutcome, RunAttempt

PREEMPTED = "a job that comes first took its place"
_GOES_ON = ("outputs", "events.jsonl")


def own_number() -> int:
    """In the job: how often Slurm has started it before."""
    return int(os.environ.get("SLURM_RESTART_COUNT") or 0)


def place(run: Path, number: int) -> Path:
    """Where the parts of a start are."""
    return run / ("members" if number == 0 else f"members-{number}")


def numbers(run: Path) -> List[int]:
    """Of the starts that have parts, oldest first."""
    found = (re.fullmatch(r"members(?:-([1-9]\d*))?", path.name) for path in run.glob("members*"))
    return sorted(int(match.group(1) or 0) for match in found if match)


def parts(run: Path, number: int) -> List[RunFolder]:
    """Of one start, in the order of the gang; those that have begun."""
    found = [path for path in place(run, number).glob("*") if path.name.isdigit() and (path / "spec.json").exists()]
    return [RunFolder(path) for path in sorted(found, key=lambda path: int(path.name))]


def why_again(why: Optional[str]) -> str:
    """For people, what comes between two attempts."""
    return f"Slurm started the job again{f': {why}' if why else ''}"


def close(run: RunFolder, number: int) -> "List[RunAttempt]":
    """In the job, before its start `number`: ends the records of those before, whose processes Slurm has ended, and
    returns all attempts until now.
    """
    from flexrack_node.run.outputs import collect_outputs  # imported only where it is needed: looking has to be quick

    gang = or_nothing(read("run.gang", run.path / "gang.json"))
    attempts: List[RunAttempt] = list(gang.get("attempts") or [])
    for earlier in [one for one in numbers(run.path) if one < number]:
        found = parts(run.path, earlier)
        for part in found:
            _complete(part)
        if not found or found[0].path.name != "0":
            continue
        leader = found[0]
        result = leader.result()
        known = or_nothing(result).get("attempts") or [*attempts, *_left(found, attempts)]
        if len(known) > len(attempts):
            requeued = or_nothing(result).get("requeued") or {"why": None}
            attempts = [
                *known[:-1],
                {**known[-1], "changes": known[-1].get("changes") or why_again(requeued["why"]), "requeued": requeued},
            ]
        for part in found:
            if not part.result():
                stopped: GangOutcome = {
                    "status": "stopped",
                    "cause": None,
                    "attempts": attempts if part is leader else [],
                    "requeued": {"why": None},
                }
                outputs = (
                    collect_outputs(part.spec(), part, float(part.state().get("started") or 0))
                    if part is leader
                    else []
                )
                part.write(
                    "result",
                    {**close_result(part.spec(), stopped, float(part.state().get("started") or 0)), "outputs": outputs},
                )
    return attempts


def carry_on(run: Path, number: int, part: Path) -> None:
    """What goes on from the start before is found in this part, too."""
    for name in _GOES_ON:
        before = next(
            (
                path
                for one in reversed(numbers(run))
                if one < number
                for path in [place(run, one) / part.name / name]
                if path.exists()
            ),
            None,
        )
        if before and not os.path.lexists(part / name):
            os.symlink(os.path.relpath(before.resolve(), part.resolve()), part / name)


def _left(found: List[RunFolder], before: "List[RunAttempt]") -> "List[RunAttempt]":
    """Attempts of a start whose leader was killed before it could tell of them."""
    left: List[RunAttempt] = []
    for number in sorted({one for part in found for one in part.attempts()} - {one["attempt"] for one in before}):
        records = [record for part in found for record in part.records(number).values()]
        if records:
            one: RunAttempt = {
                "attempt": number,
                "status": "stopped",
                "cause": None,
                "nodes": [part.spec()["node"] for part in found if part.records(number)],
                "started": min(record["started"] for record in records),
                "ended": max(record.get("ended") or record["started"] for record in records),
            }
            if not left:
                one["why"] = before[-1]["changes"] if before else "start"
            left.append(one)
    return left


def _complete(part: RunFolder) -> None:
    """A rank without an end was killed with everything around it."""
    for number in part.attempts():
        for rank, record in part.records(number).items():
            if "exit" not in record:
                log = part.attempt(number) / f"rank-{rank}.log"
                # it was alive then; nobody knows for how much longer
                seen = log.stat().st_mtime if log.exists() else record["started"]
                write(
                    "run.rank",
                    part.attempt(number) / f"rank-{rank}.json",
                    {
                        **record,
                        "ended": max(seen, record["started"]),
                        "exit": 137,
                        "signal": "KILL",
                        "presumed": True,
                        "stopped": True,
                    },
                )
