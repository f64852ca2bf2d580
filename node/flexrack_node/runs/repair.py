"""A run without a living supervisor has a result and no process, even where everything was killed.

Verbs call this before they read; who only reads a run never does. What it needs to end processes is imported only where
there is something to end: looking has to be quick.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Literal, Optional

from flexrack_node.run.files import RunFolder
from flexrack_node.run.leadership import leader_known
from flexrack_node.runs.view import RunView

if TYPE_CHECKING:
    from flexrack_node.schema.result import Cause, RunAttempt
    from flexrack_node.schema.runfiles import KeptRunOrder, RunState


def repair(run: RunView) -> None:
    """Ends what is left of it, gives its reservation back, and writes the result that is missing. Nothing to do while
    its supervisor lives.
    """
    if run.is_ours:
        _repair(run.folder)
    else:
        run.close()


def end(run: RunView) -> None:
    """The same after run.stop, also where the supervisor lives and has not listened."""
    if run.is_ours and not run.folder.result():
        _sweep(run.folder)
    repair(run)


def close_cut(folder: RunFolder, why: str) -> None:
    """A reboot has cut it off, and it does not go on: `why`. Nothing to do where somebody has taken it up."""
    if not folder.is_held() and not folder.result():
        _close(folder, f"; it does not go on: {why}")


def _sweep(folder: RunFolder) -> None:
    from flexrack_node.gang.reaper import sweep

    sweep(folder)


def _repair(folder: RunFolder) -> None:
    if folder.is_held():
        return
    if folder.result():
        _give_back(folder.spec())
        return
    if time.time() - folder.path.stat().st_mtime < 2 and not folder.state().get("pid"):
        return  # it is just being started
    from flexrack_node.runs.returning import is_awaited

    if not is_awaited(folder):
        _close(folder)


def _close(folder: RunFolder, why: str = "") -> None:
    """Ends what is left of it, and writes how it ended. `why`: what is added to the cause. Nothing to do where a
    supervisor has begun meanwhile, and none begins until this is done.
    """
    with folder.unsupervised() as is_alone:
        if is_alone and not folder.result():
            _write_end(folder, why)


def _write_end(folder: RunFolder, why: str) -> None:
    _sweep(folder)
    from flexrack_node.bucket.remotes import forget

    # only here: what is repaired is seldom, and looking is to start quickly
    from flexrack_node.run.cause import close_result
    from flexrack_node.run.resumption import attempts_known, was_cut

    spec, is_cut = folder.spec(), was_cut(folder.state())
    started = float(folder.state().get("started") or folder.path.stat().st_ctime)
    cause: Optional[Cause] = _cause(spec["node"], folder.state())
    forget(folder.path)
    if cause and folder.attempts() and (folder.attempt(folder.attempts()[-1]) / "upload.json").exists():
        cause.update({"kind": "upload", "message": f"{cause['message']}, before what it leaves was uploaded"})
    if cause and why:
        cause["message"] = f"{cause['message']}{why}"
    status: Literal["failed", "stopped"] = "failed"
    if folder.stop_request() and is_cut:  # who asked for the end has it: the node went down before it was done
        status, cause = "stopped", None
    folder.event("lost")
    attempts: List[RunAttempt] = attempts_known(folder) if is_cut else []
    attempts = attempts or [{"attempt": number, "status": "failed"} for number in folder.attempts()]
    result = close_result(spec, {"status": status, "cause": cause, "attempts": attempts}, started)
    term, leader = leader_known(spec, folder.state())
    last = max(
        (
            record.get("ended") or record["started"]
            for number in folder.attempts()
            for record in folder.records(number).values()
        ),
        default=started,
    )
    folder.write(
        "result", {**result, "ended": last, "duration": last - started, "lost": True, "term": term, "leader": leader}
    )


def _cause(node: str, state: "RunState") -> "Cause":
    from flexrack_node.base.boot import boot_id
    from flexrack_node.run.cause import of_gang, of_loss

    if "boot" not in state:  # the supervisor was too old to say it, or never came that far
        return of_gang(node, "the supervisor was killed, or the node was restarted, while the run was going on")
    if state.get("down") == state["boot"]:
        return of_loss(node, "reboot", f"the shutdown of {node} ended the run")
    if state["boot"] != boot_id():
        return of_loss(node, "reboot", f"{node} was rebooted while the run was going on")
    return of_loss(node, "supervisor", "the supervisor was killed while the run was going on")


def _give_back(spec: "KeptRunOrder") -> None:
    """Nothing to do but where everything was killed between the result and the end of the supervisor."""
    if spec.get("reservation"):
        from flexrack_node.reservation.hold import give_back

        give_back(Path(spec["root"]), spec["reservation"])
