"""python3 service/supervisor.py ROOT ID: keeps one service running until it is told to stop (SIGTERM).

It starts the service, or adopts the process of a supervisor that was killed; starts it again when it ends, with a
pause that grows until one has run for a while; and gives up where it ended too often.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Optional, cast

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.stored import or_nothing
from flexrack_node.process.containment import Containment
from flexrack_node.process.start import start_time
from flexrack_node.service.gpus import NOTHING_FREE, PassRenewal, words_of
from flexrack_node.service.log import ServiceLog
from flexrack_node.service.record import ServiceRecord, end_process
from flexrack_node.service.sockets import Sockets

if TYPE_CHECKING:
    from flexrack_node.schema.nodefiles import ServiceNote
    from flexrack_node.schema.service import ProcessExit
    from flexrack_node.service.front import Front

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
# What ran for so long had started well: its end is a first one again.
WELL_SECONDS = 5.0
LOOK_SECONDS = 0.2
# Who connects is not kept waiting for longer starts: it may know another address.
SOCKETS_KEPT_SECONDS = 2.0


class Supervisor:
    def __init__(self, record: ServiceRecord) -> None:
        self.record = record
        self.spec = record.spec()
        self.log = ServiceLog(record.folder, int(self.spec.get("rotate_bytes", ServiceLog(record.folder).rotate_bytes)))
        self.containment = Containment(record.tag, record.folder)
        self.sockets = Sockets(self.spec.get("sockets", []))
        self.stopping = False
        self.child: Optional[subprocess.Popen[bytes]] = None
        self.ends: List[float] = []
        self.begun = time.monotonic()
        self.short_lives = 0
        self.state = record.state()
        self.passes = PassRenewal(self.spec)

    def run(self) -> None:
        self._tell(supervisor={"pid": os.getpid(), "start": start_time(os.getpid())})
        front = self._open_front()
        try:
            self._keep_running()
        finally:
            self.sockets.close()
            if front:
                front.close()

    def _open_front(self) -> "Optional[Front]":
        """None where there is none, or it was stopped before its port came free."""
        if not self.spec.get("front"):
            return None
        from flexrack_node.service.front import Front

        reported = False
        while not self.stopping:
            try:
                front = Front(self.spec["front"])
                front.start()
                return front
            except OSError as error:
                if not reported:
                    self.log_line(
                        f"cannot listen on {':'.join(map(str, self.spec['front']['listen']))}: {error.strerror or error}"
                    )
                reported = True
                self._sleep(1.0)
        return None

    def _keep_running(self) -> None:
        adopted = self._adoptable()
        while not self.stopping:
            self.begun = time.monotonic()
            try:
                code = self._watch_adopted(adopted) if adopted else self._run_once()
            except OSError as error:  # the program is not there or cannot be executed
                self.log_line(f"cannot start {self.spec['argv'][0]}: {error}")
                code = 127
            adopted = None
            if self.stopping:
                break
            # Whatever the service left behind would hold its port and files when it is started again.
            if not self.spec.get("spare_children"):
                self.containment.terminate(self._grace())
            ended = describe_exit(code, bool(self.spec.get("gpus")))
            self._tell(status="waiting", pid=None, exit=ended)
            pause = self._pause_after_end()
            if pause is None:
                self.log_line(f"ended too often ({ended['text']}), giving up")
                self._tell(status="failed")
                self.containment.close()
                return
            self.log_line(f"ended: {ended['text']}; starting again in {pause:g} s")
            self._tell(restarts=int(self.state.get("restarts", 0)) + 1)
            if pause > SOCKETS_KEPT_SECONDS:
                self.sockets.close()
            self._sleep(pause)
        self.sockets.close()
        if self.record.stop_spares():
            end_process(self.state, self._grace())
            self._reap()
            self._tell(status="stopped", pid=None)
            return
        survivors = self.containment.terminate(self._grace())
        self._reap()
        self.containment.close()
        self._tell(status="stopped", pid=None, survivors=survivors)

    def log_line(self, text: str) -> None:
        file = self.log.open()
        os.write(file, f"[flexrack] {text}\n".encode())
        os.close(file)

    def _run_once(self) -> Optional[int]:
        output = self.log.open()
        sockets = self.sockets.open()
        try:
            self.child = subprocess.Popen(
                words_of(self.record, self.spec),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                cwd=self.spec.get("cwd") or str(self.record.folder),
                env={
                    **os.environ,
                    **self.spec.get("env", {}),
                    **self.containment.environment(),
                    **self.sockets.environment(),
                },
                pass_fds=sockets,
            )
        finally:
            os.close(output)
        self.containment.enter(self.child.pid)
        self._tell(status="running", pid=self.child.pid, start=start_time(self.child.pid), started_at=time.time())
        while not self.stopping:
            try:
                return self.child.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                self._look()
        return None

    def _look(self) -> None:
        self.log.rotate()
        self.passes.look(self.log)

    def _adoptable(self) -> Optional[int]:
        pid = self.state.get("pid")
        return pid if pid and start_time(pid) == self.state.get("start") else None

    def _watch_adopted(self, pid: int) -> Optional[int]:
        """Not our child, so its exit code cannot be known."""
        self.log_line(f"a new supervisor took over process {pid}")
        while not self.stopping:
            self._sleep(LOOK_SECONDS)
            with contextlib.suppress(OSError):  # no file can be opened now: that says nothing of the process
                if start_time(pid) != self.state.get("start"):
                    return None
            self._look()
        return None

    def _pause_after_end(self) -> Optional[float]:
        """Seconds until the next start, or None where the limit is reached."""
        limit = or_nothing(self.spec.get("restart"))
        window = float(limit.get("window_seconds", 60))
        now = time.monotonic()
        self.ends = [moment for moment in self.ends if now - moment < window] + [now]
        if len(self.ends) > int(limit.get("max", 0)):
            return None
        self.short_lives = 1 if now - self.begun >= WELL_SECONDS else self.short_lives + 1
        found: Optional[float] = min(FIRST_PAUSE * 2 ** (self.short_lives - 1), LONGEST_PAUSE)
        return found

    def _reap(self) -> None:
        if self.child is not None:
            try:
                self.child.wait(5)
            except subprocess.TimeoutExpired:
                pass

    def _grace(self) -> float:
        return float(self.record.stop_grace() or self.spec.get("grace", 10))

    def _sleep(self, seconds: float) -> None:
        # Slices, since a signal that only sets a flag does not end a sleep.
        until = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < until:
            time.sleep(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))

    def _tell(self, **changes: Any) -> None:
        self.state.update(cast("ServiceNote", changes))
        self.record.write_state(self.state)


def describe_exit(code: Optional[int], leases: bool = False) -> "ProcessExit":
    if leases and code == NOTHING_FREE:
        return {"code": code, "signal": None, "text": "there is no GPU for it; its log says why"}
    if code is None:
        return {"code": None, "signal": None, "text": "ended while nobody watched"}
    if code < 0:
        name = signal.Signals(-code).name[3:] if -code in set(signal.Signals) else str(-code)
        return {"code": None, "signal": name, "text": f"signal {name}"}
    return {"code": code, "signal": None, "text": f"exit code {code}"}


def main(root: str, service_id: str) -> int:
    os.umask(0o077)
    record = ServiceRecord(Path(root), service_id)
    held = record.hold_supervision()
    if held is None:  # another supervisor was quicker
        return 0
    supervisor = Supervisor(record)
    # Whoever launched this may have been killed before it was there, and a stop have come first.
    supervisor.stopping = record.stop_grace() is not None

    def stop(*_: object) -> None:
        supervisor.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    supervisor.run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
