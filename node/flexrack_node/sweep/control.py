"""Verbs of sweeps, on the head's node: sweep.drive, .list, .show, .stop, .remove.

<root>/sweeps/<sweep>/
    sweep.json     what it is: id, project, owner, spec, the record it has at the tracking server
    journal.log    Optuna's storage: every trial, asked and told
    trials.json    the same for those who look (sweep/engine.py writes it)
    lock           held (base/filelock.py) by who drives it; says who that is
    stop.json      somebody asked for its end
    engine.log     what the engine complained of
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Mapping, Optional

from flexrack_node.base import shared_lock
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock, holder_text
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, write

if TYPE_CHECKING:
    from flexrack_node.schema.node import Nothing
    from flexrack_node.schema.sweep import EngineInput, StoredSweep, SweepDriver, SweepName, SweepRemoved, SweepStop
    from flexrack_node.schema.workspace import ProjectName

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_ENGINE = Path(__file__).resolve().parent / "engine.py"


def drive(given: "EngineInput", channel: Channel) -> "Nothing":
    """{sweep, python, owner, record?, spec?}: a conversation with the engine (sweep/engine.py) over stdin and stdout,
    with the sweep's lock held.

    `record` makes the sweep; without it, it has to be there, and `spec` replaces what it tries. LOCKED while somebody
    else drives it.
    """
    folder = sweep_path(channel.root, given["sweep"])
    if given.get("record"):
        record(channel.root, channel.root / "sweeps", "sweeps")
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    elif not (folder / "sweep.json").exists():
        raise unknown(folder)
    with FileLock(folder / "lock", channel, f"sweep {folder.name}", wait=False, owner=given.get("owner")):
        if given.get("record"):
            write(
                "sweep.record", folder / "sweep.json", {**given["record"], "sweep": folder.name, "created": time.time()}
            )
        elif given.get("spec"):
            write(
                "sweep.record",
                folder / "sweep.json",
                {**or_nothing(read("sweep.record", folder / "sweep.json")), "spec": given["spec"]},
            )
        (folder / "stop.json").unlink(missing_ok=True)
        with open(folder / "engine.log", "wb") as log:
            # The head's node does other things: a fit over some hundred trials gains nothing from more threads.
            env = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ}
            # The caller says nothing before the engine is ready, so nothing of it lies in a buffer of ours.
            done = subprocess.run(
                [given["python"], "-I", "-u", str(_ENGINE), str(folder)], stderr=log, check=False, env=env
            )
    if done.returncode != 0:
        lines = (folder / "engine.log").read_text(errors="replace").strip().splitlines()[-20:]
        raise NodeError(
            "REMOTE_FAILED",
            f"the sweep {folder.name} cannot go on: {lines[-1] if lines else f'its engine ended with {done.returncode}'}",
            None,
            lines=lines,
        )
    return {}


def listing(given: "Optional[ProjectName]", channel: Channel) -> "List[StoredSweep]":
    """{project?}: every sweep here, newest first, as `show` tells it."""
    project = (given or {}).get("project")
    found = [describe(path.parent) for path in (channel.root / "sweeps").glob("*/sweep.json")]
    return sorted(
        (one for one in found if project is None or one["project"] == project), key=lambda one: -float(one["created"])
    )


def show(given: "SweepName", channel: Channel) -> "StoredSweep":
    """{sweep}: what it is, its trials, and who drives it."""
    return describe(existing(channel, given))


def stop(given: "SweepStop", channel: Channel) -> "SweepDriver":
    """{sweep, seconds?}: asks who drives it to end it, and waits so long. -> {driver: who still drives it, or null}."""
    folder = existing(channel, given)
    if driver(folder):
        write("sweep.stop", folder / "stop.json", {"at": time.time()})
    until = time.monotonic() + float(given.get("seconds") or 0)
    while driver(folder) and time.monotonic() < until:
        time.sleep(0.1)
    return {"driver": driver(folder)}


def remove(given: "SweepName", channel: Channel) -> "SweepRemoved":
    """{sweep}: deletes its folder. CONFLICT while somebody drives it."""
    folder = existing(channel, given)
    who = driver(folder)
    if who:
        raise NodeError("CONFLICT", f"sweep {folder.name} is driven by {who}", f"flexrack sweep stop {folder.name}")
    shutil.rmtree(folder)
    return {"removed": folder.name}


def describe(folder: Path) -> "StoredSweep":
    made = or_nothing(read("sweep.record", folder / "sweep.json"))
    now = or_nothing(read("sweep.trials", folder / "trials.json"))
    who = driver(folder)
    status = now.get("status", "running")
    return {
        **made,
        "status": status if who or status != "running" else "interrupted",
        "driver": who,
        "at": now.get("at"),
        "trials": now.get("trials", []),
        "importance": now.get("importance"),
    }


def driver(folder: Path) -> Optional[str]:
    """Who holds the lock, for people; None where nobody does."""
    try:
        fd = os.open(folder / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if shared_lock.take(fd, shared=True):
            return None
        return holder_text(json.loads(os.pread(fd, 4096, 0)))
    except ValueError:  # between its lock and its note
        return holder_text({})
    finally:
        os.close(fd)


def existing(channel: Channel, given: Mapping[str, Any]) -> Path:
    folder = sweep_path(channel.root, given["sweep"])
    if (folder / "sweep.json").exists():
        return folder
    raise unknown(folder)


def unknown(folder: Path) -> NodeError:
    return NodeError("NOT_FOUND", f"there is no sweep {folder.name}", "flexrack sweep list")


def sweep_path(root: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise NodeError("USAGE", f"{json.dumps(name)} is not the id of a sweep")
    return root / "sweeps" / name
