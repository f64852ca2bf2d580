"""What Slurm itself says about a job: squeue for as long as its controller knows it, then sacct where accounts are
kept.

The controller forgets a job MinJobAge seconds after its end (slurm.conf(5), 300 by default); without slurmdbd nobody
else knows.
"""

import os
import pwd
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Dict, List, Optional, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing

if TYPE_CHECKING:
    from flexrack_node.schema.runfiles import QueueRow

# Job states of squeue(1) that are not an end. COMPLETING hides how it ends: its processes are being ended on some node.
OPEN = {
    "PENDING",
    "CONFIGURING",
    "RUNNING",
    "SUSPENDED",
    "STOPPED",
    "COMPLETING",
    "REQUEUED",
    "REQUEUE_HOLD",
    "REQUEUE_FED",
    "RESIZING",
    "SIGNALING",
    "STAGE_OUT",
    "SPECIAL_EXIT",
    "RESV_DEL_HOLD",
}
WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_SQUEUE = "%i|%T|%S|%V|%e|%P|%N|%r"  # the reason last: it is free text
_SACCT = "JobIDRaw,State,Start,Submit,End,Partition,NodeList,ExitCode"
_SECONDS = 30.0
_NOTICE = 2.0  # seconds between two questions of the one process that waits until its job is taken
_TAKEN = 60.0  # seconds after the notice in which Slurm must have taken it


def ask(job: Optional[str], folder: Optional[str]) -> "Dict[str, QueueRow]":
    """By number, 12_7 for a task of an array, what squeue knows of a job, or without one of all that this user has:
    {job, state, reason, start, submitted, ended, limit (when it will have at the latest), partition, nodes (hostlist),
    by, exit, source: squeue|sacct}.

    Times in seconds since 1970; `start` of a waiting job is Slurm's estimate, None where it has none. `folder`: of
    Slurm's programs, where they are not on PATH. Raises NODE_UNREACHABLE where Slurm does not answer.
    """
    done = call(
        [
            "squeue",
            "--noheader",
            "--array",
            "--states=all",
            "--me" if job is None else f"--jobs={job}",
            f"--format={_SQUEUE}",
        ],
        folder,
    )
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        raise NodeError("NODE_UNREACHABLE", f"Slurm does not answer: {last_line(done.stderr)}", "sinfo")
    rows = [row for row in map(read_squeue, done.stdout.splitlines()) if row] if done.returncode == 0 else []
    return {**{row["job"]: row for row in rows if row["job"]}, **({job: rows[0]} if job and rows else {})}


def look(job: str, folder: Optional[str]) -> "Optional[QueueRow]":
    """As ask, of one job, or as account where squeue does not know it any more; None where nobody does. Of one that
    runs or is COMPLETING also {restarts: how often Slurm has put it back into the queue, this end included; preempted:
    it is, or was, to make room in this start}, where its squeue tells.
    """
    found = ask(job, folder).get(job)
    if not found or found["state"] not in ("RUNNING", "COMPLETING"):
        return found or account(job, folder)
    found.update(_restarts(job, folder, found["start"] if found["state"] == "RUNNING" else None))
    return found


def look_when_taken(job: str, folder: Optional[str]) -> "Optional[QueueRow]":
    """As look, for who was told to end. A job that gets notice (GraceTime, slurm.conf(5)) runs on until that is over,
    and what becomes of it is decided only then: one that ends before is neither requeued nor PREEMPTED, but over. So
    that is waited for.
    """
    seen = look(job, folder)
    end = time.monotonic() + max(0.0, (or_nothing(seen).get("limit") or 0.0) - time.time()) + _TAKEN
    while seen and seen["state"] == "RUNNING" and seen.get("preempted") and time.monotonic() < end:
        time.sleep(_NOTICE)
        try:
            seen = look(job, folder)
        except NodeError:
            pass  # the notice goes on
    return seen


def account(job: str, folder: Optional[str]) -> "Optional[QueueRow]":
    """How a job ended, by Slurm's accounts; None where there are none."""
    done = call(["sacct", "--noheader", "--parsable2", "--allocations", f"--jobs={job}", f"--format={_SACCT}"], folder)
    found = read_sacct(done.stdout) if done.returncode == 0 else None
    # a job that never ended in the accounts is not known either
    return None if found is None or found["state"] in OPEN else found


def _restarts(job: str, folder: Optional[str], start: Optional[float]) -> "QueueRow":
    done = call(
        ["squeue", "--noheader", "--array", "--states=all", f"--jobs={job}", "--Format=RestartCnt:20,PreemptTime:30"],
        folder,
    )
    words = done.stdout.split() if done.returncode == 0 else []
    known = (
        {"restarts": int(words[0]), "preempted": (seconds(words[1]) or 0.0) >= (start or 1.0)}
        if len(words) >= 2 and words[0].isdigit()
        else {}
    )
    return cast("QueueRow", known)


def find(name: str, folder: Optional[str], task: Optional[int] = None) -> Optional[str]:
    """The newest job with this name, of this user; of an array its `task`, as 12_7."""
    done = call(["squeue", "--noheader", "--array", "--states=all", "--me", f"--name={name}", "--format=%i"], folder)
    jobs = [line.strip().partition("_") for line in done.stdout.splitlines()]
    fitting = [number for number, _, own in jobs if number.isdigit() and own == ("" if task is None else str(task))]
    if done.returncode != 0 or not fitting:
        return None
    newest = max(fitting, key=int)
    return newest if task is None else f"{newest}_{task}"


def read_squeue(text: str) -> "Optional[QueueRow]":
    """A line of squeue --format=%i|%T|%S|%V|%e|%P|%N|%r."""
    fields = text.strip().split("|", 7)
    if len(fields) < 8:
        return None
    job, state, start, submitted, ended, partition, nodes, reason = (field.strip() for field in fields)
    is_over = state not in OPEN
    return {
        "job": job,
        "state": state,
        "reason": None if reason in ("", "None") else reason,
        "start": seconds(start),
        "submitted": seconds(submitted),
        "ended": seconds(ended) if is_over else None,
        "limit": None if is_over else seconds(ended),
        "partition": partition or None,
        "nodes": nodes,
        "by": None,
        "exit": None,
        "source": "squeue",
    }


def read_sacct(text: str) -> "Optional[QueueRow]":
    """The last line of sacct --parsable2; `CANCELLED by 1000` becomes the state and who did it."""
    lines = [line for line in text.splitlines() if line.count("|") == 7]
    if not lines:
        return None
    job, state, start, submitted, ended, partition, nodes, code = lines[-1].split("|")
    word, _, by = state.partition(" by ")
    return {
        "job": job,
        "state": word.rstrip("+"),
        "reason": None,
        "start": seconds(start),
        "submitted": seconds(submitted),
        "ended": seconds(ended),
        "partition": partition or None,
        "nodes": "" if nodes == "None assigned" else nodes,
        "by": user_name(by) if by else None,
        "exit": code or None,
        "source": "sacct",
    }


def host_names(hostlist: str, folder: Optional[str]) -> List[str]:
    """`c[1-2]` as names. Slurm's own grammar, so Slurm's own program."""
    if not hostlist or hostlist == "(null)":
        return []
    return call(["scontrol", "show", "hostnames", hostlist], folder).stdout.split()


def node_addresses(names: List[str], folder: Optional[str]) -> Dict[str, str]:
    """Address of each node as slurm.conf has it (NodeAddr), else its name."""
    found = {name: name for name in names}
    for line in call(["scontrol", "--oneliner", "show", "node", ",".join(names)], folder).stdout.splitlines():
        fields = dict(word.partition("=")[::2] for word in line.split())
        if fields.get("NodeName") in found and fields.get("NodeAddr"):
            found[fields["NodeName"]] = fields["NodeAddr"]
    return found


def config(folder: Optional[str]) -> Dict[str, str]:
    """scontrol show config: the keys of slurm.conf and their values. Raises NODE_UNREACHABLE."""
    done = call(["scontrol", "show", "config"], folder)
    if done.returncode != 0:
        raise NodeError("NODE_UNREACHABLE", f"Slurm does not answer: {last_line(done.stderr)}", "sinfo")
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


def signals_all(folder: Optional[str]) -> bool:
    """Whether Slurm's signals reach every process of a step: with proctrack/pgid only those of the tasks' process
    groups.
    """
    return not config(folder).get("ProctrackType", "").endswith("pgid")


def call(words: List[str], folder: Optional[str], is_read: bool = True) -> "subprocess.CompletedProcess[str]":
    """One of Slurm's programs, what is read of it in English and with its standard times. Raises NODE_UNFIT,
    NODE_UNREACHABLE.
    """
    program = shutil.which(words[0], path=os.path.expanduser(folder) if folder else None)
    if not program:
        where = folder or "on the PATH of this node"
        raise NodeError(
            "NODE_UNFIT",
            f"there is no {words[0]} {'in ' if folder else ''}{where}",
            "set slurm.bin in the rack file to the folder of Slurm's programs",
        )
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("SQUEUE_", "SACCT_", "SBATCH_", "SLURM_TIME_FORMAT"))
    }
    if is_read:  # not for sbatch, which hands its environment on to the job
        env.update(LC_ALL="C", SLURM_TIME_FORMAT="standard")
    try:
        return subprocess.run(
            [program, *words[1:]], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=_SECONDS, env=env
        )
    except subprocess.TimeoutExpired:
        raise NodeError("NODE_UNREACHABLE", f"{words[0]} did not answer within {_SECONDS:.0f} s", "sinfo") from None


def seconds(text: str) -> Optional[float]:
    """2026-01-31T12:00:00, in this machine's time zone; None for N/A, Unknown and the like."""
    try:
        return time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))
    except ValueError:
        return None


def user_name(uid: str) -> str:
    try:
        return pwd.getpwuid(int(uid)).pw_name
    except (KeyError, ValueError):
        return uid


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no reason given")


def told_by_records(job: Optional[str], state: str, reason: Optional[str]) -> "QueueRow":
    """Of a job that Slurm was not asked about, or could not be."""
    return {
        "job": job,
        "state": state,
        "reason": reason,
        "start": None,
        "nodes": "",
        "partition": None,
        "source": "records",
    }
