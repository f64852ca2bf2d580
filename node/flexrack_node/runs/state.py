"""Verbs that look at runs: run.state and run.list. run.follow is in runs/follow.py.

Any of them that finds a run whose supervisor is dead ends what is left of it and writes the result that is missing.
"""
import time
from pathlib import Path
from typing import Any, Dict, List

from flexrack_node.run.cause import close_result, of_gang
from flexrack_node.base.channel import Channel
from flexrack_node.process.containment import Containment
from flexrack_node.watch.hang import hangs
from flexrack_node.run.leadership import is_judgement, leader_known, may_be_led_on
from flexrack_node.run.files import RunFolder, all_runs, containment_tag, open_run, read_json, write_json

_SLURM_TICK = 0.2  # seconds between two looks at the files of a run under Slurm

SUMMARY = "summary.2.json"  # read by src/lib/runs/glance.ts as well, without Python; another number for another shape


def state(given: Dict[str, Any], channel: Channel) -> Dict[str, Any]:
    """{run, wait?}: everything known here about a run; with `wait`, up to so many seconds later when it ends before."""
    folder = open_run(channel.root, given["run"])
    deadline = time.monotonic() + float(given.get("wait") or 0)
    if is_slurm(folder):
        from flexrack_node.slurm.run import SlurmRun

        run = SlurmRun(folder)
        seen = run.watch() if given.get("wait") else run.look()
        while seen and time.monotonic() < deadline:
            time.sleep(max(0.0, min(_SLURM_TICK, deadline - time.monotonic())))
            seen = run.watch()
        return run.detail(seen)
    while not is_over(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    tidy(folder)
    return detail(folder)


def listing(_given: Any, channel: Channel) -> List[Dict[str, Any]]:
    """A summary of every run of this node, oldest first."""
    found = []
    for folder in all_runs(channel.root):
        kept = read_json(folder.path / SUMMARY)
        if not kept:
            kept = _fresh(folder)
            if kept["recorded"] and not kept["live"]:  # nothing of it will change any more
                write_json(folder.path / SUMMARY, kept, durable=False)
        found.append(kept)
    return found


def _fresh(folder: RunFolder) -> Dict[str, Any]:
    if is_slurm(folder):
        from flexrack_node.slurm.run import SlurmRun

        return SlurmRun(folder).summary()
    tidy(folder)
    return summary(folder)


def is_slurm(folder: RunFolder) -> bool:
    """Slurm starts, ends and knows it: slurm/run.py."""
    return folder.spec().get("scheduler") == "slurm"


def is_over(folder: RunFolder) -> bool:
    """Nothing will change any more unless somebody reconciles."""
    return not folder.is_held()


def tidy(folder: RunFolder) -> None:
    """A run without a living supervisor has a result and no process, even where everything was killed."""
    if folder.is_held():
        return
    if folder.result():
        _give_back(folder.spec())
        return
    if time.time() - folder.path.stat().st_mtime < 2 and not folder.state().get("pid"):
        return  # it is just being started
    from flexrack_node.gang.warden import sweep  # imported only where it is needed: looking has to be quick

    sweep(folder)
    spec = folder.spec()
    started = float(folder.state().get("started") or folder.path.stat().st_ctime)
    cause = of_gang(spec["node"], "the supervisor was killed, or the node was restarted, while the run was going on")
    folder.event("lost")
    attempts = [{"attempt": number, "status": "failed"} for number in folder.attempts()]
    result = close_result(spec, {"status": "failed", "cause": cause, "attempts": attempts}, started)
    epoch, leader = leader_known(spec, folder.state())
    last = max((record.get("ended") or record["started"] for number in folder.attempts() for record in folder.records(number).values()), default=started)
    folder.write("result", {**result, "ended": last, "duration": last - started, "lost": True, "epoch": epoch, "leader": leader})


def _give_back(spec: Dict[str, Any]) -> None:
    """Nothing to do but where everything was killed between the result and the end of the supervisor."""
    if spec.get("reservation"):
        from flexrack_node.reservation.hold import give_back  # imported only where it is needed: looking has to be quick

        give_back(Path(spec["root"]), spec["reservation"])


def alive(folder: RunFolder) -> List[int]:
    """Processes of the run's ranks that are alive on this node right now."""
    spec = folder.spec()
    found: List[int] = []
    for attempt in folder.attempts():
        found += Containment(containment_tag(spec, attempt), folder.path, look_only=True).pids()
    return found


def summary(folder: RunFolder) -> Dict[str, Any]:
    spec, now, result = folder.spec(), folder.state(), folder.result()
    epoch, leader = leader_known(spec, now, result)
    return {
        "run": folder.run,
        "project": spec.get("project"),
        "node": spec["node"],
        "index": spec["index"],
        "epoch": epoch,
        "leader": leader,
        "judged": is_judgement(result),
        "replaceable": may_be_led_on(spec),
        "nodes": spec["nodes"],
        "members": now.get("members") or spec["nodes"][:(spec.get("size") or {}).get("max")],
        "processes": spec["processes"],
        "launcher": spec["launcher"],
        "created": spec.get("created"),
        "status": result["status"] if result else now.get("status", "starting"),
        "attempt": now.get("attempt", 0),
        "live": folder.is_held(),
        "gang": now.get("gang"),
        "exit": result["exit"] if result else None,
        "cause": result.get("cause") if result else None,
        "started": result["started"] if result else now.get("started"),
        "ended": result["ended"] if result else None,
        "recorded": result.get("recorded") if result else None,
        "tracked": (spec.get("tracking") or {}).get("run_id"),
    }


def detail(folder: RunFolder) -> Dict[str, Any]:
    """The summary, every record, the result, and what the user asked for; never the secrets of the spec."""
    spec = folder.spec()
    return {
        **summary(folder),
        "command": spec["command"],
        "environment": spec.get("environment"),
        "commit": spec.get("commit"),
        "folder": str(folder.path),
        "records": {str(number): {str(rank): record for rank, record in sorted(folder.records(number).items())} for number in folder.attempts()},
        "alive": alive(folder),
        "result": folder.result(),
        "hangs": hangs(folder),
    }
