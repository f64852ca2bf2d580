"""Signals to the supervisor of a run: whoever ends it kindly means the run, unless the machine goes down; then nobody
wants its end.
"""

import os
import signal
import time
from typing import TYPE_CHECKING, Optional, Union

from flexrack_node.gang.returning import leave
from flexrack_node.process.shutdown import goes_down
from flexrack_node.run.cause import of_loss, was_cut_off
from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known, may_be_led_on
from flexrack_node.run.resumption import obstacle

if TYPE_CHECKING:
    from flexrack_node.schema.result import GangOutcome
    from flexrack_node.schema.runfiles import KeptRunOrder, StopRequest

_SHUTDOWN = "the shutdown of "  # who asked for the end, before the node's name


def with_shutdown(folder: RunFolder, result: "GangOutcome", request: "Optional[StopRequest]") -> "GangOutcome":
    """Nobody wanted its end whose machine goes down."""
    if result["status"] == "failed" or not request or not request["by"].startswith(_SHUTDOWN):
        return result
    records = folder.records(folder.attempts()[-1]).values() if folder.attempts() else []
    if result["status"] == "finished" and not any(was_cut_off(record, request.get("at", 0.0)) for record in records):
        return result
    why = obstacle(folder) if "after_reboot" in folder.spec() else None
    message = f"{request['by']} ended the run{f'; it does not go on: {why}' if why else ''}"
    return {**result, "status": "failed", "cause": of_loss(request["by"][len(_SHUTDOWN) :], "reboot", message)}


def _others_go_on(folder: RunFolder, spec: "KeptRunOrder") -> bool:
    """Whether the run is not over because this machine goes down: others have it, or it goes on after the reboot."""
    leader = leader_known(spec, folder.state())[1]
    return leader != spec["node"] or may_be_led_on(spec) or obstacle(folder) is None


def listen_to_signals(folder: RunFolder, is_noted: bool) -> None:
    """Whoever ends this process kindly means the run."""

    def stop(number: int, _frame: Union[object, None]) -> None:
        at = time.time()
        if is_noted:
            folder.write("signal", {"at": at, "by": signal.Signals(number).name})
        if not folder.stop_request():
            spec = folder.spec()
            is_down = number == signal.SIGTERM and not is_noted and goes_down()
            if is_down and not folder.result() and _others_go_on(folder, spec):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                leave(folder, spec, at)
                os._exit(0)  # without a word to the reaper, which ends what is left and tells the others
            by = f"{_SHUTDOWN}{spec['node']}" if is_down else signal.Signals(number).name
            folder.write(
                "stop", {"grace": spec.get("grace", 10), "kill": False, "by": by, **({"at": at} if is_down else {})}
            )

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
