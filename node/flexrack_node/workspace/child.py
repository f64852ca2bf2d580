"""Runs a program that fills an environment: reads what it says, and ends it when the caller goes away or a signal
comes.
"""

import ctypes
import os
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import Callable, Dict, List

from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import CallerGone, is_caller_gone

TICK_SECONDS = 0.25
PR_SET_PDEATHSIG = 1


def watch(
    words: List[str],
    cwd: Path,
    environment: Dict[str, str],
    on_line: Callable[[str], None],
    on_tick: Callable[[], None],
) -> int:
    """To its end; its status. `on_tick` is called now and then while it runs; what either raises ends it."""
    child = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=environment,
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )
    assert child.stdout is not None
    os.set_blocking(child.stdout.fileno(), False)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ)
            rest, reported = b"", time.monotonic()
            while True:
                if selector.select(TICK_SECONDS):
                    data = child.stdout.read()
                    if data == b"":
                        return child.wait()
                    *whole, rest = (rest + (data or b"")).split(b"\n")
                    for line in whole:
                        on_line(line.decode(errors="replace").rstrip())
                if is_caller_gone():
                    raise CallerGone("the caller has gone")
                if time.monotonic() - reported > 2 * TICK_SECONDS:
                    reported = time.monotonic()
                    on_tick()
    finally:
        _end(child)
        child.stdout.close()


def _end_with_parent() -> None:
    """In the child: SIGKILL when the builder dies, however; otherwise an orphan would write on without the lock."""
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Ends the child and all it started."""
    for number, seconds in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        if child.poll() is not None:
            break
        try:
            os.killpg(child.pid, number)
            child.wait(seconds)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    try:
        os.killpg(child.pid, signal.SIGKILL)  # what it left behind, e.g. a compiler
    except (ProcessLookupError, PermissionError):
        pass


class SignalsRaise:
    """A signal becomes an exception, so that children are ended and the half environment removed."""

    def __enter__(self) -> None:
        self.before = {one: signal.signal(one, self._raise) for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}

    def __exit__(self, *_: object) -> None:
        for one, handler in self.before.items():
            signal.signal(one, handler)

    def _raise(self, number: int, frame: object) -> None:
        raise NodeError("INTERRUPTED", f"ended by {signal.Signals(number).name}")
