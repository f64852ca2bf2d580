"""What a job of Slurm runs, from the script that src/lib/train/placer/slurm-script.ts writes:

    slurm/step.py prepare RUN_FOLDER    once a start, in the batch step on the first node: where the gang meets
    slurm/step.py member RUN_FOLDER     under srun, one task a node: the supervisor of a run, as over SSH

Where RUN_FOLDER has no spec.json, `prepare` takes it from stdin: a script that was printed and then submitted by hand.
"""

import os
import secrets
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Optional

if __package__ in (None, ""):  # started as a file: make the package importable by its name
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base import stored
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.bucket import remotes
from flexrack_node.gang import supervisor
from flexrack_node.rank.launch import free_port, interfaces, source_towards
from flexrack_node.run.files import RunFolder
from flexrack_node.slurm import commands, starts
from flexrack_node.slurm.member_file import tell
from flexrack_node.slurm.stacks import begin_answering
from flexrack_node.slurm.verdict import after_signal

if TYPE_CHECKING:
    from flexrack_node.schema.result import RunResult
    from flexrack_node.schema.runfiles import JobGang, KeptRunOrder

_JOIN_SECONDS = 120  # for all members: nodes of a large job do not begin in the same second
_SHOWN_SECONDS = 90.0  # for a shared file system to show what the first node has just written
OVER = 64  # exit status of prepare where the run has finished already: the script ends well


def main(arguments: List[str]) -> int:
    os.umask(0o077)
    try:
        return {"prepare": prepare, "member": member}[arguments[0]](RunFolder(Path(arguments[1])))
    except (NodeError, OSError) as error:
        print(f"flexrack: {error}", file=sys.stderr)
        return 1


def prepare(folder: RunFolder) -> int:
    """Writes gang.json: the job's nodes in the order of their tasks, and an address and a port of this one, the first.
    Where Slurm starts the job again, also what became of the starts before. Returns 0, or OVER; raises CONFLICT where
    the run is over otherwise.
    """
    if not (folder.path / "spec.json").exists():
        _adopt(folder, sys.stdin.read())
    spec, job = folder.spec(), own_job()
    known = read("run.job", folder.path / "job.json")
    if known and known["job"] != job:
        raise NodeError(
            "CONFLICT", f"run {folder.run} was started as job {known['job']} before; a script is for one run"
        )
    write("run.job", folder.path / "job.json", {"job": job})
    start = starts.own_number()
    ended = _ended(folder, start)
    if ended:
        if ended["status"] == "finished":
            return OVER
        raise NodeError(
            "CONFLICT",
            f"run {folder.run} is over ({ended['status']}); that Slurm has started job {job} again changes nothing",
        )
    if spec.get("inputs"):
        from flexrack_node.bucket.verbs import bring_all  # only here: few runs have any

        root = folder.path.parent.parent
        # once for all nodes, which share the folder
        bring_all(spec["inputs"], folder.path, root, remotes.of_run(folder.path), lambda *_: None)
    attempts = starts.close(folder, start)
    names = commands.host_names(os.environ["SLURM_JOB_NODELIST"], spec["slurm"].get("bin"))
    found = commands.node_addresses(names, spec["slurm"].get("bin"))
    address = leader_address([resolve(found[name]) for name in names], spec["slurm"].get("interface"))
    port = free_port(address) if len(names) > 1 else 0
    reaches_all = commands.signals_all(spec["slurm"].get("bin"))
    gang: JobGang = {"nodes": names, "address": address, "port": port, "hosts": found, "reaches_all": reaches_all}
    if start:
        gang.update({"start": start, "attempts": attempts})
    write("run.gang", folder.path / "gang.json", gang)
    return 0


def member(folder: RunFolder) -> int:
    """Supervises this node's part until the run is over. Returns what this task ends with: the run's exit status, so
    that Slurm's accounts tell the same.
    """
    start = starts.own_number()
    gang = _gang(folder, start)
    spec, index = folder.spec(), int(os.environ["SLURM_PROCID"])
    node = gang["nodes"][index]
    here = os.environ.get("SLURMD_NODENAME")
    if here not in (None, node):
        raise NodeError("BUG", f"task {index} is on {here}, and not on {node}")
    own = starts.place(folder.path, start) / str(index)
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    starts.carry_on(folder.path, start, own)
    hosts: Dict[str, str] = gang["hosts"]
    own_spec: KeptRunOrder = {
        **spec,
        "node": node,
        "index": index,
        "nodes": gang["nodes"],
        "address": gang["address"] if index == 0 else source_towards(gang["address"]) or gang["address"],
        "neighbours": sum(1 for name in hosts if hosts[name] == hosts[node]),
        "slurm": {**spec["slurm"], "job": own_job(), "reaches_all": gang["reaches_all"], "start": start},
        "gang": {
            "secret": spec["gang"]["secret"],
            "address": gang["address"],
            "port": gang["port"],
            "listen": gang["port"],
            "timeout": _JOIN_SECONDS,
        },
    }
    if start:
        own_spec["attempts"] = gang["attempts"]
    write("run.spec", own / "spec.json", own_spec)
    # asked for between the job's start and this, or a place for it
    tell(RunFolder(own), "run.stop", "stop", folder.stop_request())
    begin_answering(RunFolder(own))
    os.environ["FLEXRACK_NODE"] = node
    attempts = gang.get("attempts")
    if attempts and index == 0:
        RunFolder(own).event("restarting", attempt=len(attempts) + 1, why=attempts[-1]["changes"], nodes=gang["nodes"])
    supervisor.supervise(RunFolder(own), lambda result, at: judge(RunFolder(own), result, at))
    result = or_nothing(RunFolder(own).result())
    if index == 0 and result and not (result.get("requeued") or result.get("provisional") or result.get("open")):
        remotes.forget(folder.path)
    return int(result.get("exit", 1))


def judge(part: RunFolder, result: "RunResult", at: float) -> "RunResult":
    """Slurm's SIGTERM reaches the ranks as well as the supervisor; what they did after it was the end of the run,
    however they ended.
    """
    spec = part.spec()
    is_requested = not str(or_nothing(part.stop_request()).get("by", "")).startswith("SIG")
    seen = None
    try:
        seen = (
            None
            if is_requested
            else commands.look_when_taken(spec["slurm"]["job"] or own_job(), spec["slurm"].get("bin"))
        )
    except NodeError:
        pass  # it is provisional without Slurm's word, too
    return after_signal(spec, result, at, is_requested, seen)


def own_job() -> str:
    """Slurm's number of this job; of a task of an array the one that all of Slurm's programs know, too: 12_7."""
    array, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    return f"{array}_{task}" if array and task else os.environ["SLURM_JOB_ID"]


def leader_address(addresses: List[Optional[str]], interface: Optional[str]) -> str:
    """Where the others reach this node, the first of `addresses` (None: a name without an address). Raises NODE_UNFIT.

    The interface of the rack file; else the address that Slurm itself uses, unless that is loopback (Debian's
    /etc/hosts gives
    127.0.1.1 for a machine's own name) and others are elsewhere; else the one on the route to another node.
    """
    own, others = addresses[0], [one for one in addresses[1:] if one]
    known = {address for _, address, _ in interfaces()}
    if not addresses[1:]:
        return "127.0.0.1"
    if interface:
        found = next((address for name, address, _ in interfaces() if name == interface), None)
        if not found:
            raise NodeError(
                "NODE_UNFIT",
                f"{socket.gethostname()} has no interface {interface} with an IPv4 address",
                "set slurm.interface in the rack file",
            )
        return found
    if (
        own
        and (own in known or own.startswith("127."))
        and (not own.startswith("127.") or all(one == own for one in others))
    ):
        return own
    towards = next((one for one in others if not one.startswith("127.")), "192.0.2.1")  # TEST-NET-1: the default route
    found = source_towards(towards)
    if not found:
        raise NodeError(
            "NODE_UNFIT",
            f"{socket.gethostname()} has no address at which the other nodes could reach it",
            "set slurm.interface in the rack file",
        )
    return found


def resolve(name: str) -> Optional[str]:
    try:
        return socket.gethostbyname(name)
    except OSError:
        return None


def _ended(folder: RunFolder, start: int) -> "Optional[RunResult]":
    """The result of the run, where it has one that another start does not change."""
    before = [number for number in starts.numbers(folder.path) if number < start]
    leader = RunFolder(starts.place(folder.path, before[-1]) / "0").result() if before else None
    is_open = not leader or leader.get("requeued") or leader.get("provisional")
    return folder.result() or (None if is_open else leader)


def _gang(folder: RunFolder, start: int) -> "JobGang":
    """gang.json of this start: this node may have seen that of an earlier one, and a shared file system may show it for
    a while yet. Raises NODE_UNFIT.
    """
    end = time.monotonic() + _SHOWN_SECONDS
    while True:
        gang = or_nothing(read("run.gang", folder.path / "gang.json"))
        if gang and gang.get("start", 0) == start:
            return gang
        if time.monotonic() > end:
            raise NodeError(
                "NODE_UNFIT",
                f"{folder.path / 'gang.json'}, which the job's first node has written, is not to be seen here after {_SHOWN_SECONDS:.0f} s",
            )
        os.listdir(folder.path)  # makes a shared file system look anew
        time.sleep(0.2)


def _adopt(folder: RunFolder, text: str) -> None:
    import json

    try:
        spec: KeptRunOrder = stored.current("run.spec", json.loads(text), "the script's spec")
    except ValueError:
        raise NodeError("NOT_FOUND", f"{folder.path} has no spec.json, and the script brings none") from None
    folder.path.mkdir(parents=True, exist_ok=True, mode=0o700)
    from flexrack_node.base.channel import Channel
    from flexrack_node.data.use import with_data
    from flexrack_node.history.of_run import with_snapshot
    from flexrack_node.workspace.frozen import frozen

    root = folder.path.parent.parent
    spec.update({"gang": {"secret": secrets.token_hex(32)}, "created": time.time()})
    channel = Channel(root, root / "environments", sys.stdin.buffer)
    write(
        "run.spec",
        folder.path / "spec.json",
        with_snapshot(with_data(frozen(spec, folder.path, channel), folder.path, channel), folder.path, channel),
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
