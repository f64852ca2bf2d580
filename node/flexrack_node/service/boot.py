"""Services after a reboot: what is to run here and does not is started. Runs are in verbs/boot.py, which answers
boot.resume and boot.inspect.

A service is to run here if it was started and nobody has stopped it since: a spec.json without stop.json. A supervisor
that is ended by the shutdown, or killed with the machine, writes no stop.json.
"""

import fcntl
import os
import time
from typing import TYPE_CHECKING, Callable, Dict, List, Optional

from flexrack_node.base.boot import boot_id
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read
from flexrack_node.process.containment import Containment
from flexrack_node.process.start import start_time
from flexrack_node.service import comeback, control
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord, wanted

if TYPE_CHECKING:
    from flexrack_node.schema.service import BootFound, BootResumed, NotRunning

_PATIENCE_SECONDS = 600.0  # networks, disks and clocks may come later than we do: what gives up is tried again so long
_STEADY_SECONDS = 30.0
_FIRST_PAUSE = 2.0
_LONGEST_PAUSE = 60.0


def resume(channel: Channel, runs: Callable[[], bool]) -> "BootResumed":
    """Starts every service that is to run here and does not. Run again it starts nothing. It stays until all run
    steadily, as long as that may take. `runs` takes up what it can of the runs, and says whether any is left; it is
    called again and again.
    """
    root = channel.root
    settings = read("boot.settings", comeback.folder(root) / "settings.json")
    if settings is None or not comeback.is_mine(settings):
        return {"started": [], "failed": {}}  # of another machine with this home
    os.environ.update(settings["environment"])
    with open(comeback.folder(root) / "resuming", "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return {"started": [], "failed": {}}  # another one is at it
        return bring_all(channel, runs)


def inspect(channel: Channel) -> "BootFound":
    """How services come back here, which are to run here, and which of them do not."""
    records = wanted(channel.root)
    missing: List[NotRunning] = []
    for record in records:
        now = control.describe(record)
        if now["state"] not in control.ALIVE:
            missing.append(
                {
                    "id": record.id,
                    "state": now["state"],
                    "exit": now["exit"]["text"] if now["exit"] else None,
                    "last": last_line(record),
                }
            )
    return {
        "comes_back": comeback.look(channel.root),
        "wanted": [record.id for record in records],
        "missing": missing,
        "runs": [],
    }


def bring_all(channel: Channel, take_up: Callable[[], bool]) -> "BootResumed":
    until, pause = time.monotonic() + _PATIENCE_SECONDS, _FIRST_PAUSE
    steady_since: Optional[float] = None
    started: List[str] = []
    failed: Dict[str, str] = {}
    while comeback.is_set_up(channel.root):
        are_runs_up = not take_up()
        for record in wanted(channel.root):
            try:
                if bring_back(record, channel):
                    started.append(record.id)
                    say(f"started {record.id}")
                failed.pop(record.id, None)
            except (NodeError, OSError) as error:
                text = error.message if isinstance(error, NodeError) else str(error)
                if failed.get(record.id) != text:
                    say(f"cannot start {record.id}: {text}")
                failed[record.id] = text
        runs = (
            are_runs_up
            and not failed
            and all(control.describe(record)["state"] == "running" for record in wanted(channel.root))
        )
        steady_since = (steady_since or time.monotonic()) if runs else None
        if time.monotonic() > until or (
            steady_since is not None and time.monotonic() - steady_since >= _STEADY_SECONDS
        ):
            break
        time.sleep(pause)
        pause = _FIRST_PAUSE if runs else min(pause * 2, _LONGEST_PAUSE)
    return {"started": sorted(set(started)), "failed": failed}


def bring_back(record: ServiceRecord, channel: Channel) -> bool:
    """True where it was started; what has given up is started anew."""
    with record.change():
        if not record.is_wanted() or record.is_supervised():
            return False
        state = record.state()
        pid = state.get("pid")
        living = pid and start_time(pid) == state.get("start")
        if living:
            control.launch(record, channel)  # its supervisor alone was lost
            return False
        if not record.spec().get("spare_children"):
            survivors = Containment(record.tag, record.folder).terminate(float(record.spec().get("grace", 10)))
            if survivors:
                raise NodeError("REMOTE_FAILED", f"processes of its last start did not end: {survivors}")
        record.write_state({"status": "starting", "restarts": 0, "log_from": ServiceLog(record.folder).end()})
        control.launch(record, channel)
        return True


def last_line(record: ServiceRecord) -> Optional[str]:
    log = ServiceLog(record.folder)
    lines = (
        log.read(max(int(record.state().get("log_from", 0)), log.end() - 2000))[1]
        .decode("utf-8", "replace")
        .strip()
        .splitlines()
    )
    return lines[-1][:300] if lines else None


def say(text: str) -> None:
    """Its output is the log of boot/, and may be where there is no room."""
    try:
        print(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} boot {boot_id()[:8]}: {text}", flush=True)
    except OSError:
        pass
