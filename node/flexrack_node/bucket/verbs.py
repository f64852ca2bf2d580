"""bucket.bring, .upload, .settle, .forget: inputs of a run before it starts; its uploads once more where they failed."""

import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock, is_held
from flexrack_node.base.installed import record
from flexrack_node.base.stored import write
from flexrack_node.bucket import copying, remotes, tool
from flexrack_node.bucket.rclone import Rclone
from flexrack_node.run.files import RunFolder, open_run, run_path

if TYPE_CHECKING:
    from flexrack_node.schema.bucket import BringOrder, InputBrought, Settled, UploadAgain
    from flexrack_node.schema.result import UploadDone
    from flexrack_node.schema.watch import RunName

_TELL_SECONDS = 0.5
_ORPHAN_SECONDS = 86_400.0


def bring(given: "BringOrder", channel: Channel) -> "List[InputBrought]":
    """{run, inputs, remotes}: copies each input to the run's folder.

    Again for the same run only what is missing comes: a call that was cut off is made again.
    """
    path = run_path(channel.root, given["run"])
    record(channel.root, channel.root / "runs", "runs")
    drop_orphans(channel.root)
    (path / "inputs").mkdir(mode=0o700, parents=True, exist_ok=True)
    tool.folder(channel.root).mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(path / "inputs.lock", channel, f"the inputs of {given['run']}")
    with lock, remotes.for_now(given["remotes"], tool.folder(channel.root)) as conf:
        return bring_all(given["inputs"], path, channel.root, conf, teller(channel))


def bring_all(inputs: Any, path: Path, root: Path, conf: Path, tell: copying.Tell) -> "List[InputBrought]":
    rclone = Rclone(tool.need(root), conf)
    return [
        copying.bring(rclone, one, path / "inputs", copying.siblings_of(path, one, _specs(root)), tell)
        for one in inputs
    ]


def teller(channel: Channel) -> copying.Tell:
    last = [0.0]

    def tell(what: str, done: int, total: int) -> None:
        if time.monotonic() - last[0] > _TELL_SECONDS:
            last[0] = time.monotonic()
            # Where nobody hears it, this ends us, and rclone with us.
            channel.event("progress", detail=what, done=done, total=total, unit="bytes")

    return tell


def forget(given: "RunName", channel: Channel) -> "Settled":
    """{run}: its inputs, where it was never started."""
    path = run_path(channel.root, given["run"])
    if not (path / "spec.json").exists():
        shutil.rmtree(path, ignore_errors=True)
        return {"changed": True}
    return {"changed": False}


def upload(given: "UploadAgain", channel: Channel) -> "List[UploadDone]":
    """{run, remotes}: what the run's uploads name, from this node, once more. CONFLICT while it runs."""
    folder = open_run(channel.root, given["run"])
    if folder.is_held():
        raise NodeError("CONFLICT", f"{given['run']} is still running", f"flexrack runs stop {given['run']}")
    wanted: Any = folder.spec().get("uploads") or []
    tool.folder(channel.root).mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder.path / "uploads.lock", channel, f"the uploads of {given['run']}")
    with lock, remotes.for_now(given["remotes"], tool.folder(channel.root)) as conf:
        rclone = Rclone(tool.need(channel.root), conf)
        # Each node of a job of Slurm has a folder of its own, and all of them are here.
        places = [path for path in (folder.outputs, *sorted(folder.path.glob("members*/*/outputs"))) if path.is_dir()]
        done = [copying.upload(rclone, one, place, given["run"], teller(channel)) for place in places for one in wanted]
    for number in folder.attempts()[-1:]:
        write("run.upload", folder.attempt(number) / "upload.json", {"status": "done", "uploads": done, "why": None})
    return done


def settle(given: "RunName", channel: Channel) -> "Settled":
    """{run}: all of its nodes have uploaded; a run that failed for that alone has finished."""
    folder = open_run(channel.root, given["run"])
    result = folder.result()
    cause = result.get("cause") if result else None
    if not result or not cause or cause["kind"] != "upload":
        return {"changed": False}
    folder.write("result", {**result, "status": "finished", "exit": 0, "cause": None})
    folder.event("uploaded again")
    return {"changed": True}


def _specs(root: Path) -> Iterator[Tuple[Path, Any]]:
    for spec in (root / "runs").glob("*/spec.json"):
        try:
            yield spec.parent, RunFolder(spec.parent).spec()
        except (OSError, NodeError, ValueError):
            continue


def drop_orphans(root: Path) -> None:
    """Inputs of runs that were never started, because who was to start them was killed."""
    for inputs in (root / "runs").glob("*/inputs"):
        path = inputs.parent
        try:
            if (
                not (path / "spec.json").exists()
                and time.time() - path.stat().st_mtime > _ORPHAN_SECONDS
                and not is_held(path / "inputs.lock")
            ):
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue
