"""The record of a run, on its leader: written before its ranks start, completed when it has ended, and brought to the
tracking server with what it names.

    RUN/record.json        protocol/record.json; the same bytes are the artifact lineage/record.json
    RUN/code.tar.gz        lineage/code.tar.gz: the contents of its code
    RUN/tree.json          lineage/tree.json: what the digest of the code is made of
    RUN/environment.txt    lineage/environment.txt: the packages of its environment

The tag `flexrack.record` of the tracking server's run is the SHA-256 of the record. Nothing that goes wrong here keeps a
run from starting, or from ending as it ended.
"""

import hashlib
import re
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence

from flexrack_node.base.content_hash import file_sha256
from flexrack_node.base.stored import or_nothing, read, replace_file
from flexrack_node.lineage.here import here, python_version
from flexrack_node.lineage.pack import pack
from flexrack_node.measure.usage import account
from flexrack_node.run.files import RunFolder
from flexrack_node.run.recorded import NotRecorded
from flexrack_node.workspace.environment_content import installed

if TYPE_CHECKING:
    from flexrack_node.run.recording import Recorder
    from flexrack_node.schema.record import NodeHere, RecordedCode, RecordedEnvironment, RecordedOutput, RunRecord
    from flexrack_node.schema.result import RunResult
    from flexrack_node.schema.runfiles import KeptRunOrder

TAG = "flexrack.record"
_PARTS = ("code.tar.gz", "tree.json", "environment.txt")
_SEED_WORD = re.compile(r"-{0,2}((?:[\w.-]*[._-])?seed)(?:=(.+))?", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,40}")


class Lineage:
    """Of one run on this node, which leads it."""

    def __init__(self, folder: RunFolder, spec: "KeptRunOrder") -> None:
        self._folder, self._spec = folder, spec
        self._sent = threading.Event()

    def begin(self, recorder: "Optional[Callable[[], Recorder]]") -> None:
        """Writes what is known before a rank has started; sends it beside the run, where it is tracked."""
        try:
            if not (self._folder.path / "record.json").exists():
                self._folder.write("record", first_record(self._folder, self._spec))
        except Exception as error:  # whatever it is, it is not the run's trouble
            self._folder.event("no record", why=repr(error))
            return
        if recorder:
            threading.Thread(target=self._send, args=(recorder,), daemon=True).start()

    def end(self, recorder: "Optional[Recorder]", result: "RunResult", nodes: "Sequence[NodeHere]" = ()) -> bool:
        """Completes it; True where the tracking server has it all, or the run is not tracked."""
        try:
            complete(self._folder, self._spec, result, nodes)
        except Exception as error:  # whatever it is, it is not the run's trouble
            self._folder.event("no record", why=repr(error))
            return True
        try:
            if recorder:
                send(self._folder, recorder, parts=not self._sent.is_set())
            return True
        except NotRecorded as error:
            self._folder.event("record not sent", why=str(error))
            return False

    def _send(self, recorder: "Callable[[], Recorder]") -> None:
        try:
            send(self._folder, recorder(), parts=True)
            self._sent.set()
        except NotRecorded as error:
            self._folder.event("record not sent", why=str(error))


def send(folder: RunFolder, recorder: "Recorder", parts: bool) -> None:
    """Raises NotRecorded."""
    for name in [*(_PARTS if parts else ()), "record.json"]:
        if (folder.path / name).is_file():
            recorder.upload(folder.path / name, f"lineage/{name}")
    recorder.tag(TAG, file_sha256(folder.path / "record.json"))


def complete(folder: RunFolder, spec: "KeptRunOrder", result: "RunResult", nodes: "Sequence[NodeHere]" = ()) -> None:
    """How it ended, into its record. Raises OSError."""
    record = read("run.record", folder.path / "record.json") or first_record(folder, spec)
    known: Dict[str, NodeHere] = {one["node"]: one for one in [*record["nodes"], *nodes]}
    record["nodes"] = [known[node] for node in spec["nodes"] if node in known]
    record["status"], record["ended"] = result["status"], result["ended"]
    record["attempts"] = [
        {
            "attempt": one["attempt"],
            "status": one["status"],
            "why": one.get("why", "start"),
            "nodes": one.get("nodes", []),
            "checkpoint": or_nothing(one.get("checkpoint")).get("name"),
        }
        for one in result.get("attempts", [])
    ]
    record["outputs"] = outputs_of(folder, result.get("outputs", []))
    folder.write("record", record)


def first_record(folder: RunFolder, spec: "KeptRunOrder") -> "RunRecord":
    """What is known before the ranks start; makes the pack and the list of packages beside it. Raises OSError."""
    tracking = spec.get("tracking")
    return {
        "run": spec["run"],
        "project": spec["project"],
        "status": "running",
        # A script that was submitted by hand does not say who does it, and when.
        "started": spec.get("created") or time.time(),
        "ended": None,
        "user": spec.get("owner") or account(),
        "origin": spec.get("origin"),
        "program": Path(__file__).resolve().parents[2].name,
        "command": spec["command"],
        "launcher": spec["launcher"],
        "processes": spec["processes"],
        "nodes": [here(spec)],
        "env": sorted(spec["env"]),
        "seeds": seeds(spec["command"], spec["env"]),
        "code": _code(folder, spec),
        "environment": _environment(folder, spec),
        "data": spec.get("data", []),
        "image": spec.get("image") or spec.get("container"),
        "inputs": spec.get("inputs", []),
        "attempts": [],
        "outputs": [],
        "tracked": tracking["run_id"] if tracking else None,
    }


def seeds(command: Sequence[str], env: Dict[str, str]) -> Dict[str, str]:
    """What is called a seed and is a number: `--seed 3`, `--data-seed=3`, `seed=3`, `PYTHONHASHSEED`."""
    found: Dict[str, str] = {}
    for word, following in zip(command, [*command[1:], ""]):
        match = _SEED_WORD.fullmatch(word)
        if match:
            value = match.group(2) or (following if word.startswith("-") else "")
            if _NUMBER.fullmatch(value):
                found[match.group(1)] = value
    for name, value in env.items():
        if "SEED" in name.upper() and _NUMBER.fullmatch(value):
            found[name] = value
    return found


def outputs_of(folder: RunFolder, names: Sequence[str]) -> "List[RecordedOutput]":
    found: List[RecordedOutput] = []
    for name in names:
        path = folder.outputs / name
        if path.is_file():
            found.append({"path": name, "sha256": file_sha256(path), "bytes": path.stat().st_size})
    return found


def _code(folder: RunFolder, spec: "KeptRunOrder") -> "Optional[RecordedCode]":
    code = or_nothing(spec.get("code"))
    digest = code.get("digest")
    if not digest:
        return None
    tree = read("run.tree", folder.path / "tree.json")
    target = folder.path / "code.tar.gz"
    packed, left_out = (
        pack(folder.path / "code", tree, target) if tree else (None, [[".", "the node does not know its files"]])
    )
    return {
        "digest": digest,
        "files": code.get("files", 0),
        "bytes": code.get("bytes", 0),
        "commit": spec.get("commit"),
        "pack": packed,
        "left_out": left_out,
    }


def _environment(folder: RunFolder, spec: "KeptRunOrder") -> "Optional[RecordedEnvironment]":
    name = spec.get("environment")
    if not name:
        return None
    python = Path(spec["python"])
    if not python.parent.parent.is_dir():  # it has gone: what it was is not known any more
        return None
    lock = installed(python.parent.parent)
    replace_file(folder.path / "environment.txt", lock, durable=False)
    return {
        "hash": name,
        "python": python_version(python),
        "lock": hashlib.sha256(lock.encode()).hexdigest(),
        "packages": lock.count("\n"),
    }
