"""What earlier runs left behind on this node: processes whose supervisor is dead."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Iterator, List, Optional

from flexrack_node.process.containment import TAG, Containment, environ_of, is_alive
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import Leftover


def leftovers(root: Path) -> "List[Leftover]":
    """Processes of runs of this root that nobody watches over any more."""
    found: Dict[str, List[int]] = {}
    for pid, run in tagged(root).items():
        found.setdefault(run, []).append(pid)
    for run in {note.parent.name for note in root.glob("runs/*/cgroup-*")}:
        inside = (pid for one in containments(root, run) for pid in one.pids())
        found[run] = sorted({*found.get(run, []), *inside})
    return [
        {"run": run, "pids": sorted(pids), "command": command_of(pids[0])}
        for run, pids in sorted(found.items())
        if pids and is_dead(root, run)
    ]


def tagged(root: Path) -> Dict[int, str]:
    """Live processes of ranks by pid, in one look through /proc: the tag says the run, the folder of outputs says
    whose.
    """
    looked = ((int(name), run_of(root, int(name))) for name in os.listdir("/proc") if name.isdigit())
    return {pid: run for pid, run in looked if run is not None}


def run_of(root: Path, pid: int) -> Optional[str]:
    """The run that a live process is a rank of, as its tag says; None of others."""
    begin = f"FLEXRACK_OUTPUTS={root}/runs/".encode()
    variables = environ_of(pid)
    run = next(
        (one[len(begin) :].split(b"/")[0].decode(errors="replace") for one in variables if one.startswith(begin)),
        None,
    )
    is_tagged = run and any(one.startswith(f"{TAG}={run}.".encode()) for one in variables)
    return run if is_tagged and is_alive(pid) else None


def is_leftover(root: Path, run: str, pid: int) -> bool:
    """Whether one process is a run's that is over, asked of it alone: for each signal."""
    return is_dead(root, run) and (run_of(root, pid) == run or any(one.has(pid) for one in containments(root, run)))


def containments(root: Path, run: str) -> Iterator[Containment]:
    """Those that are open; they know processes without the tag, too."""
    for note in (root / "runs" / run).glob("cgroup-*"):
        yield Containment(note.name[len("cgroup-") :], note.parent, look_only=True)


def is_dead(root: Path, run: str) -> bool:
    """No supervisor lives, and none is just starting: that one has written its spec and not yet taken the lock."""
    folder = RunFolder(root / "runs" / run)
    return not folder.is_held() and (
        not folder.path.exists() or bool(folder.state().get("pid")) or bool(folder.result())
    )


def command_of(pid: int) -> str:
    try:
        return (
            Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:120]
        )
    except OSError:
        return ""
