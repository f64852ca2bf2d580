"""What is kept about one service: services/<id>/ with spec.json (0600), state.json and locks.

Whether a supervisor lives is told by the kernel lock on `supervisor.lock`, which ends with the process however it
ends. A pid is only ever trusted together with its start time, so that a recycled pid is never signalled.
"""

import fcntl
import os
import re
import signal
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.process.containment import send_signal
from flexrack_node.process.start import start_time, started_at

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import KeptService, ServiceNote

ID_PATTERN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class ServiceRecord:
    """The folder of one service."""

    def __init__(self, root: Path, service_id: str) -> None:
        if not isinstance(service_id, str) or not ID_PATTERN.fullmatch(service_id):
            raise NodeError("USAGE", f"{service_id!r} is no service id")
        self.id = service_id
        self.folder = root / "services" / service_id

    @property
    def tag(self) -> str:
        """Marks every process of this service; several nodes may share one machine, so the folder is part of it."""

        import hashlib

        place = hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()[:12]
        return f"service-{self.id}-{place}"

    def exists(self) -> bool:
        return (self.folder / "spec.json").is_file()

    def is_wanted(self) -> bool:
        """It was started to stay, and nobody has stopped it since; also where it ended with its machine, or gave up."""
        return self.exists() and not (self.folder / "stop.json").exists() and not self.spec().get("until_reboot")

    def spec(self) -> "KeptService":
        return read("service.spec", self.folder / "spec.json") or cast("KeptService", {})

    def write_spec(self, spec: "KeptService") -> None:
        write("service.spec", self.folder / "spec.json", spec)

    def state(self) -> "ServiceNote":
        return read("service.state", self.folder / "state.json") or cast("ServiceNote", {})

    def write_state(self, state: "ServiceNote") -> None:
        write("service.state", self.folder / "state.json", state)

    def ask_stop(self, grace: float, spare: bool = False) -> None:
        """Written before the supervisor is signalled: how long to wait before SIGKILL, and whether what the process
        started lives on.
        """
        write("service.stop", self.folder / "stop.json", {"grace": grace, "spare": spare})

    def stop_grace(self) -> Optional[float]:
        return or_nothing(read("service.stop", self.folder / "stop.json")).get("grace")

    def stop_spares(self) -> bool:
        return bool(or_nothing(read("service.stop", self.folder / "stop.json")).get("spare"))

    def forget_stop(self) -> None:
        try:
            os.unlink(self.folder / "stop.json")
        except FileNotFoundError:
            pass

    def end_from_within(self, grace: float) -> None:
        """Asked by the service itself: its supervisor ends it as a stop does, and does not start it again; what is told
        of it stays.
        """
        self.ask_stop(grace)
        supervisor = or_nothing(self.state().get("supervisor"))
        pid = supervisor.get("pid")
        if pid:
            send_signal(pid, signal.SIGTERM, started_at(supervisor.get("start")))

    @contextmanager
    def change(self) -> Iterator[None]:
        """One start, stop or adoption at a time; the others wait."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(self.folder / "change.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def hold_supervision(self) -> Optional[int]:
        """Takes the supervisor's lock for the life of this process; None where another supervisor lives."""
        file = os.open(self.folder / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(100):  # somebody who only asks holds it for an instant
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return file
            except OSError:
                time.sleep(0.02)
        os.close(file)
        return None

    def is_supervised(self) -> bool:
        if not self.folder.is_dir():
            return False
        file = os.open(self.folder / "supervisor.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: askers do not take each other for a supervisor
            return False
        except OSError:
            return True
        finally:
            os.close(file)


def wanted(root: Path) -> List[ServiceRecord]:
    """The services that are to run on this node, by id."""
    folder = root / "services"
    names = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    return [
        record
        for record in (ServiceRecord(root, name) for name in names if ID_PATTERN.fullmatch(name))
        if record.is_wanted()
    ]


def end_process(state: "ServiceNote", grace: float) -> None:
    """SIGTERM, grace, SIGKILL for the one process of a service, and nothing that it has started."""
    pid, started = state.get("pid"), state.get("start")
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 5.0)):
        if pid:
            send_signal(pid, number, started_at(started))
        until = time.monotonic() + patience
        while pid and start_time(pid) == started and time.monotonic() < until:
            time.sleep(0.02)
