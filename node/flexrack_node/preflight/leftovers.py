"""What earlier runs left behind on this node: processes whose supervisor is dead."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List

from flexrack_node.process.containment import TAG, Containment, is_alive
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.preflight import Leftover


def leftovers(root: Path) -> "List[Leftover]":
    """Processes of runs of this root that nobody watches over any more."""
    found: Dict[str, List[int]] = {}
    for pid, run in tagged(root).items():
        found.setdefault(run, []).append(pid)
    # there only while a containment is open; it knows those without the tag, too
    for note in root.glob("runs/*/cgroup-*"):
        pids = Containment(note.name[len("cgroup-") :], note.parent, look_only=True).pids()
        found[note.parent.name] = sorted({*found.get(note.parent.name, []), *pids})
    return [
        {"run": run, "pids": sorted(pids), "command": command_of(pids[0])}
        for run, pids in sorted(found.items())
        if pids and is_dead(root, run)
    ]


def tagged(root: Path) -> Dict[int, str]:
    """Live processes of ranks by pid, in one look through /proc: the tag says the run, the folder of outputs says
    whose.
    """
    begin = f"FLEXRACK_OUTPUTS={root}/runs/".encode()
    found: Dict[int, str] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            variables = Path("/proc", name, "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        run = next(
            (one[len(begin) :].split(b"/")[0].decode(errors="replace") for one in variables if one.startswith(begin)),
            None,
        )
        if run and any(one.startswith(f"{TAG}={run}.".encode()) for one in variables) and is_alive(int(name)):
            found[int(name)] = run
    return found


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
