"""Long-lived processes on a node: service.start, .status, .stop, .list, .logs.

    services/<id>/  spec.json state.json stop.json supervisor.lock change.lock log log.1 supervisor.log

A supervisor (service/supervisor.py), detached from the connection, keeps the process running. The verbs here work
whether it lives or was killed: then the process it left is adopted by a new one, or ended.
"""

import base64
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional, cast

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record as record_installed
from flexrack_node.base.stored import or_nothing
from flexrack_node.process.containment import Containment, send_signal
from flexrack_node.process.start import start_time, started_at
from flexrack_node.service import comeback
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord, end_process

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptService
    from flexrack_node.schema.service import (
        LogEnd,
        ServiceId,
        ServiceLogs,
        ServicePrefix,
        ServiceStart,
        ServiceStarted,
        ServiceState,
        ServiceStop,
        ServiceStopped,
    )

SUPERVISOR = Path(__file__).resolve().with_name("supervisor.py")
ALIVE = ("starting", "running", "waiting")
# of what is asked for; the rest is about the asking
_KEPT = (
    "argv",
    "env",
    "cwd",
    "restart",
    "grace",
    "rotate_bytes",
    "spare_children",
    "front",
    "sockets",
    "until_reboot",
    "on_demand",
    "ports",
    "gpus",
)


def start(given: "ServiceStart", channel: Channel) -> "ServiceStarted":
    """{id, argv, env, cwd, restart: {max, window_seconds}, grace, spare_children, front, sockets, replace, define}: starts it
    unless it runs already.

    With another spec than the one that runs it is a CONFLICT, or with `replace` the old process is ended first.
    `sockets` (service/sockets.py) are kept while the process is started again.
    `front` (service/front.py) lets the head in where the service only listens on loopback; it holds a private key.
    With `define` it is only written down: what may start it later is the node's agent (serving/agent.py).
    With `spare_children` what the process has started lives on when it ends or is replaced; a stop ends all of it.
    """
    spec = cast("KeptService", {key: value for key, value in given.items() if key in _KEPT and value is not None})
    if not spec.get("argv"):
        raise NodeError("USAGE", f"service {given.get('id')} has no command")
    record = ServiceRecord(channel.root, given["id"])
    record_installed(channel.root, record.folder, "service")
    with record.change():
        now = describe(record)
        same = record.spec() == spec
        if now["state"] in ALIVE and not same and not given.get("replace"):
            raise NodeError("CONFLICT", f"service {record.id} already runs with another command", None, pid=now["pid"])
        if now["state"] in ALIVE and same and not given.get("define"):
            if not record.is_supervised():
                record.forget_stop()  # of one that was cut off in its middle
                launch(record, channel)
            return {**describe(record), "started": False, "comes_back": comeback.settle(channel)}
        halt(record, float(given.get("grace") or 10), spare=bool(spec.get("spare_children")))
        _end_passes(record.spec(), spec)
        record.write_spec(spec)
        if given.get("define"):
            record.ask_stop(float(given.get("grace") or 10))
            record.write_state({"status": "stopped", "restarts": 0, "log_from": ServiceLog(record.folder).end()})
            return {**describe(record), "started": False, "comes_back": comeback.look(channel.root)}
        record.forget_stop()
        record.write_state({"status": "starting", "restarts": 0, "log_from": ServiceLog(record.folder).end()})
        launch(record, channel)
        return {**describe(record), "started": True, "comes_back": comeback.settle(channel)}


def status(given: "ServiceId", channel: Channel) -> "ServiceState":
    """{id}: what it does now. A process whose supervisor was killed is given a new supervisor."""
    record = ServiceRecord(channel.root, given["id"])
    if not record.exists():
        return describe(record)
    with record.change():
        adopt_or_end(record, channel)
        return describe(record)


def stop(given: "ServiceStop", channel: Channel) -> "ServiceStopped":
    """{id, grace, remove}: SIGTERM, grace seconds, SIGKILL, and proof that no process of it is left."""

    import shutil

    record = ServiceRecord(channel.root, given["id"])
    if not record.exists():
        return {**describe(record), "stopped": False}
    with record.change():
        was = describe(record)["state"]
        halt(record, float(given.get("grace") or record.spec().get("grace", 10)))
        _end_passes(record.spec())
        now: ServiceStopped = {**describe(record), "stopped": was in ALIVE}
        if given.get("remove"):
            shutil.rmtree(record.folder, ignore_errors=True)
        if comeback.is_set_up(channel.root) and not comeback.is_wanted(channel.root):
            comeback.settle(channel)
        return now


def list_all(given: "ServicePrefix", channel: Channel) -> "List[ServiceState]":
    """{prefix}: every service of this node whose id begins so, by id."""
    folder = channel.root / "services"
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return [status({"id": name}, channel) for name in names if name.startswith((given or {}).get("prefix", ""))]


def logs(given: "ServiceLogs", channel: Channel) -> "LogEnd":
    """{id, offset, tail, follow}: events {event: "log", offset, data (base64)} from a byte offset on.

    `tail` begins that many bytes before the end instead, but not before the last start. With follow it goes on until
    the service has ended or the caller has gone; the result is the offset to go on from.
    """
    record = ServiceRecord(channel.root, given["id"])
    if not record.exists():
        raise NodeError("NOT_FOUND", f"no service {record.id} on this node")
    log = ServiceLog(record.folder)
    offset = int(given.get("offset") or 0)
    if given.get("tail") is not None:
        offset = max(0, int(record.state().get("log_from", 0)), log.end() - int(given["tail"]))
    last_sign = time.monotonic()
    while True:
        alive = given.get("follow") and record.is_supervised()  # asked before reading: nothing after it is missed
        while True:
            begin, data = log.read(offset)
            if not data:
                break
            channel.event("log", offset=begin, data=base64.b64encode(data).decode())
            offset = begin + len(data)
            last_sign = time.monotonic()
        if not alive:
            return {"offset": offset}
        if time.monotonic() - last_sign > 5:  # a caller that has gone is noticed by writing to it
            channel.event("alive")
            last_sign = time.monotonic()
        time.sleep(0.2)


def _end_passes(before: "KeptService", after: "Optional[KeptService]" = None) -> None:
    if before.get("gpus"):
        from flexrack_node.service.gpus import end_passes  # few have some

        end_passes(before, after)


def describe(record: ServiceRecord) -> "ServiceState":
    state = record.state()
    word: Any = state.get("status", "absent") if record.exists() else "absent"
    pid = state.get("pid")
    living = pid is not None and start_time(int(pid)) == state.get("start")
    if word in ALIVE and not living and not record.is_supervised():
        word = "lost"  # killed together with its supervisor, or the machine was started again
    return {
        "id": record.id,
        "state": word,
        "pid": pid if living else None,
        "restarts": state.get("restarts", 0),
        "started_at": state.get("started_at"),
        "exit": state.get("exit"),
        "log_from": state.get("log_from", 0),
        "supervised": record.is_supervised(),
    }


def adopt_or_end(record: ServiceRecord, channel: Channel) -> None:
    if record.is_supervised():
        return
    state = record.state()
    wanted = state.get("status") in ALIVE and record.stop_grace() is None
    pid = state.get("pid")
    living = pid and start_time(pid) == state.get("start")
    if wanted and living:
        launch(record, channel)
    elif wanted and record.spec().get("spare_children"):
        # both were killed, or the machine was started again; what it started may be at work, and the next start finds
        # it
        pass
    else:
        containment = Containment(record.tag, record.folder)
        if containment.pids():
            halt(record, 2)
            if wanted:
                record.forget_stop()  # nobody asked for its end
        else:
            containment.close()


def launch(record: ServiceRecord, channel: Channel) -> None:
    """Starts a supervisor and waits until it holds its lock."""
    from flexrack_node.process.detach import detach  # only here: to look starts nothing

    env = {key: value for key, value in os.environ.items() if key != "FLEXRACK_TAG"}
    detach(
        [sys.executable, "-I", "-S", str(SUPERVISOR), str(channel.root), record.id],
        record.folder / "supervisor.log",
        env,
        record.folder,
    )
    until = time.monotonic() + 10
    while time.monotonic() < until:
        status_now = record.state().get("status")
        if record.is_supervised() and (record.state().get("supervisor") or status_now not in ALIVE):
            return
        if status_now in ("failed", "stopped"):  # quicker than we looked
            return
        time.sleep(0.02)
    raise NodeError(
        "REMOTE_FAILED",
        f"the supervisor of service {record.id} did not start",
        None,
        log=(record.folder / "supervisor.log").read_text(errors="replace")[-2000:],
    )


def halt(record: ServiceRecord, grace: float, spare: bool = False) -> None:
    """Ends supervisor and processes, whichever of them live; NodeError if something survives. `spare`: only the one
    process it runs.
    """
    if not record.exists():
        return
    record.ask_stop(grace, spare)
    supervisor = or_nothing(record.state().get("supervisor"))
    until = time.monotonic() + grace + 15
    while record.is_supervised() and time.monotonic() < until:
        pid = supervisor.get("pid")
        if pid:
            send_signal(pid, signal.SIGTERM, started_at(supervisor.get("start")))
        supervisor = or_nothing(record.state().get("supervisor"))
        time.sleep(0.05)
    if record.is_supervised():
        pid = supervisor.get("pid")
        if pid:
            send_signal(pid, signal.SIGKILL, started_at(supervisor.get("start")))
    if spare:
        end_process(record.state(), grace)
        return
    containment = Containment(record.tag, record.folder)
    survivors = containment.terminate(grace) if containment.pids() else []
    containment.close()
    if survivors:
        raise NodeError("REMOTE_FAILED", f"processes of service {record.id} did not end", None, pids=survivors)
    state = record.state()
    if state.get("status") in ALIVE:
        record.write_state({**state, "status": "stopped", "pid": None})
