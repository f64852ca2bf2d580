"""The prepared services of this node: which are to run, and having it so. Each start and each end is a thread of its
own, as a server may take its grace to end while another one is wanted at once.
"""

import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.gpu.pass_keeping import PassKeeping
from flexrack_node.service import control
from flexrack_node.service.gpus import places_of
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ID_PATTERN, ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.schema.serving import ServerReport

# What the head no longer names, the command that took it away ends; where that was cut off, this does.
UNNAMED_SECONDS = 120.0
_RETRY_SECONDS = 2.0


class Servers:
    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._lock = threading.Lock()
        self._wanted: Dict[str, bool] = {}
        self._unnamed: Dict[str, float] = {}  # since when, by the clock of this machine
        self._busy: Dict[str, threading.Thread] = {}
        self._again: Dict[str, float] = {}
        self._reports: Dict[str, ServerReport] = {}
        self._passes = PassKeeping(self._places)

    def want(self, wanted: Mapping[str, bool]) -> None:
        """By service: whether it is to run. Those that are not named any more are ended later."""
        now = time.monotonic()
        with self._lock:
            gone = {service for service in self._wanted if service not in wanted}
            self._unnamed = {
                service: self._unnamed.get(service, now) for service in {*self._unnamed, *gone} if service not in wanted
            }
            self._wanted = dict(wanted)

    def reports(self) -> "Dict[str, ServerReport]":
        with self._lock:
            return dict(self._reports)

    def look(self) -> None:
        """Begins whatever has to be started or ended, and waits for nothing."""
        self._passes.look()
        with self._lock:
            wanted = dict(self._wanted)
            unnamed = {one for one, since in self._unnamed.items() if time.monotonic() - since > UNNAMED_SECONDS}
        found: Dict[str, ServerReport] = {}
        for service in [*wanted, *unnamed]:
            if not ID_PATTERN.fullmatch(service):
                continue
            record = ServiceRecord(self._channel.root, service)
            try:
                if not record.spec().get("on_demand"):
                    continue
                found[service] = self._report(record)
                self._settle(record, wanted.get(service, False))
            except (NodeError, OSError) as error:
                self._say(service, error)
        with self._lock:
            self._reports = {service: report for service, report in found.items() if service in wanted}
            for service in unnamed:
                self._unnamed.pop(service, None) if service not in self._busy else None

    def _places(self) -> List[Any]:
        """Passes of those that do not run; else their supervisors keep them."""
        with self._lock:
            records = [ServiceRecord(self._channel.root, one) for one in self._wanted if ID_PATTERN.fullmatch(one)]
        found: List[Any] = []
        for record in records:
            try:
                found += [] if record.is_supervised() else places_of(record.spec())
            except (NodeError, OSError) as error:
                self._say(record.id, error)
        return found

    def _report(self, record: ServiceRecord) -> "ServerReport":
        now = control.describe(record)
        is_off = not record.is_wanted() and now["state"] not in control.ALIVE
        exit = now["exit"]
        return {
            "state": "stopped" if is_off else now["state"],
            "restarts": now["restarts"],
            "exit": exit["text"] if exit else None,
        }

    def _settle(self, record: ServiceRecord, on: bool) -> None:
        thread = self._busy.get(record.id)
        if (thread and thread.is_alive()) or time.monotonic() < self._again.get(record.id, 0.0):
            return
        now = control.describe(record)
        is_alive = now["state"] in control.ALIVE
        if on and not is_alive and (not record.is_wanted() or now["state"] in ("lost", "stopped")):
            self._begin(record, self._start)
        elif on and is_alive and not now["supervised"]:
            self._begin(record, lambda one: control.adopt_or_end(one, self._channel))
        elif not on and (is_alive or record.is_wanted()):
            self._begin(record, lambda one: control.halt(one, float(one.spec().get("grace", 10))))

    def _begin(self, record: ServiceRecord, work: Callable[[ServiceRecord], None]) -> None:
        def do() -> None:
            try:
                with record.change():
                    if record.exists():  # the command that takes it away may have been faster
                        work(record)
            except (NodeError, OSError) as error:
                self._say(record.id, error)
                self._again[record.id] = time.monotonic() + _RETRY_SECONDS

        thread = threading.Thread(target=do, name=record.id, daemon=True)
        self._busy[record.id] = thread
        thread.start()

    def _start(self, record: ServiceRecord) -> None:
        with self._lock:
            if not self._wanted.get(record.id):
                return
        control.halt(record, 2)  # what a lost supervisor may have left would have its port
        record.forget_stop()
        record.write_state({"status": "starting", "restarts": 0, "log_from": ServiceLog(record.folder).end()})
        control.launch(record, self._channel)

    def _say(self, service: str, error: Any) -> None:
        print(f"[flexrack] {service}: {getattr(error, 'message', error)}", flush=True)
