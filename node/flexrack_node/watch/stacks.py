"""The stacks of a run's ranks on this node, right now: what run.stacks tells, and what the supervisor looks at when
ranks hang.

A rank with our hook writes them itself when it gets a signal (faulthandler: in C, also while it holds the GIL or waits
in C++). Of another py-spy is asked, where the run's environment or the node has it. What is left is what the kernel
tells in /proc.
"""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional

from flexrack_node.base.file_part import read_from
from flexrack_node.process.containment import is_alive, send_signal
from flexrack_node.process.look import busy_seconds, has_handler, kernel_view, state_of
from flexrack_node.run.files import RunFolder
from flexrack_node.watch import flight
from flexrack_node.watch.progress import progress_path, read_progress
from flexrack_node.watch.watching import STACKS_SIGNAL, stacks_path

if TYPE_CHECKING:
    from flexrack_node.schema.watch import RankStack, StackFrame, StackThread

_PATIENCE = 2.0  # seconds for a rank to write its stacks; a running one takes milliseconds
_SETTLED = 0.1  # seconds without a further byte: it is through
_FLIGHT_PATIENCE = 1.0  # seconds for the flight recorder; a rank that holds the GIL does not answer
_LOOK = 0.3  # seconds over which CPU use is measured
_PY_SPY_SECONDS = 10.0
_MOST_BYTES = 1024 * 1024  # of the stacks of a rank
_MOST_FRAMES = 60  # of a thread, the innermost
_MOST_THREADS = 12
_THREAD = re.compile(r"^(Current thread|Thread) 0x[0-9a-f]+(?: \[(.*)\])? \(most recent call first\):$")
_FRAME = re.compile(r'^  File "(.*)", line (\d+|\?\?\?) in (.*)$')


def dump(folder: RunFolder, attempt: int, only: Optional[int] = None) -> "List[RankStack]":
    """Every live rank of the attempt on this node, at the same time: [{rank, node, pid, state, cpu, source, threads,
    kernel, progress, flight, note}].

    state: one letter as in proc(5); cpu: CPUs in use, or wanted, just now; source: faulthandler, py-spy or kernel;
    threads: [{main, name, frames: [{file, line, function}]}], the innermost frame first; progress: read_progress's;
    flight: flight.read's.
    """
    spec, path = folder.spec(), folder.attempt(attempt)
    found: List[RankStack] = []
    waiting: Dict[int, int] = {}  # index in found: size of the stacks file before
    for rank, record in sorted(folder.records(attempt).items()):
        if "exit" in record or (only is not None and rank != only):
            continue
        progress = read_progress(progress_path(path, rank))
        pid = teller(record, progress)
        if not is_alive(pid):
            continue
        one: RankStack = {
            "rank": rank,
            "node": spec["node"],
            "pid": pid,
            "progress": progress,
            "cwd": spec.get("cwd"),
            "state": state_of(pid),
            "cpu": busy_seconds(pid),
            "kernel": kernel_view(pid),
            "source": "kernel",
            "threads": [],
            "note": None,
        }
        if one["state"] == "T":
            one["note"] = "it is stopped (SIGSTOP), and writes nothing until it is continued"
        elif has_handler(pid, STACKS_SIGNAL):
            size = _size(stacks_path(path, rank))
            if send_signal(pid, STACKS_SIGNAL, lambda one: has_handler(one, STACKS_SIGNAL)):
                waiting[len(found)] = size
        found.append(one)
    requested = [one for one in found if one["note"] is None and flight.ask(path, one["rank"])]
    began = time.monotonic()
    _wait_for_files(found, waiting, path)
    time.sleep(max(0.0, _LOOK - (time.monotonic() - began)))
    while (
        any(flight.read(path, one["rank"]) is None for one in requested) and time.monotonic() - began < _FLIGHT_PATIENCE
    ):
        time.sleep(0.02)
    for index, one in enumerate(found):
        one["flight"] = flight.read(path, one["rank"]) if one in requested else None
        seconds = time.monotonic() - began
        one["state"], one["kernel"] = state_of(one["pid"]), kernel_view(one["pid"])
        one["cpu"] = round(max(0.0, busy_seconds(one["pid"]) - one["cpu"]) / seconds, 2)
        if index in waiting:
            one["threads"] = parse(
                read_from(stacks_path(path, one["rank"]), waiting[index], _MOST_BYTES).decode(errors="replace")
            )
            if one["threads"]:
                one["source"] = "faulthandler"
        if not one["threads"] and one["note"] is None:
            _ask_py_spy(one, spec)
    return found


def teller(record: Mapping[str, Any], progress: Optional[Mapping[str, Any]]) -> int:
    """The process of a rank that trains: the one that tells, where the rank itself is a launcher or a shell script."""
    pid = int(progress["pid"]) if progress else 0
    return pid if pid and is_alive(pid) else record["pid"]


def parse(text: str) -> "List[StackThread]":
    """The threads of what faulthandler wrote. The signal reaches the main thread (signal(7): any that does not block
    it, and Linux takes the first).
    """
    threads: List[StackThread] = []
    for line in text.splitlines():
        begin = _THREAD.match(line)
        if begin:
            threads.append({"main": begin.group(1) == "Current thread", "name": begin.group(2), "frames": []})
            continue
        frame = _FRAME.match(line)
        if frame and threads and len(threads[-1]["frames"]) < _MOST_FRAMES:
            threads[-1]["frames"].append(
                {
                    "file": frame.group(1),
                    "line": int(frame.group(2)) if frame.group(2).isdigit() else None,
                    "function": frame.group(3),
                }
            )
    return sorted(threads, key=lambda one: not one["main"])[:_MOST_THREADS]


def parse_py_spy(text: str) -> "List[StackThread]":
    """The same of `py-spy dump --json`. Raises ValueError, KeyError."""
    threads: List[StackThread] = [
        {
            "main": one.get("thread_name") == "MainThread" or one.get("os_thread_id", -1) == one.get("pid"),
            "name": one.get("thread_name"),
            "frames": [_py_spy_frame(frame) for frame in one["frames"][:_MOST_FRAMES]],
        }
        for one in json.loads(text)
    ]
    return sorted(threads, key=lambda one: not one["main"])[:_MOST_THREADS]


def _py_spy_frame(frame: Mapping[str, Any]) -> "StackFrame":
    return {"file": frame["filename"], "line": frame["line"], "function": frame["name"]}


def _wait_for_files(found: "List[RankStack]", waiting: Mapping[int, int], path: Path) -> None:
    """Until every file has grown and then rested."""
    deadline = time.monotonic() + _PATIENCE
    sizes: Dict[int, int] = {}
    rested = time.monotonic()
    while waiting and time.monotonic() < deadline:
        now = {index: _size(stacks_path(path, found[index]["rank"])) for index in waiting}
        if now != sizes:
            sizes, rested = now, time.monotonic()
        elif all(now[index] > before for index, before in waiting.items()) and time.monotonic() - rested > _SETTLED:
            return
        time.sleep(0.02)


def _ask_py_spy(one: "RankStack", spec: Mapping[str, Any]) -> None:
    bin_folder = str(Path(spec["python"]).parent)
    program = shutil.which("py-spy", path=os.pathsep.join([bin_folder, os.environ.get("PATH", "")]))
    if not program:
        one["note"] = (
            "it did not write its stacks, and there is no py-spy in its environment or on the node"
            if one["progress"]
            else None
        )
        return
    try:
        done = subprocess.run(
            [program, "dump", "--json", "--pid", str(one["pid"])],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PY_SPY_SECONDS,
        )
        one["threads"] = parse_py_spy(done.stdout) if done.returncode == 0 else []
        one["source"] = "py-spy" if one["threads"] else "kernel"
        one["note"] = None if one["threads"] else f"py-spy: {(done.stderr.strip().splitlines() or ['no stacks'])[0]}"
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
        one["note"] = f"py-spy: {error}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
