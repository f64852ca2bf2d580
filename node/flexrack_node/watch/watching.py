"""What a rank is given so that it tells of itself: its progress file, and our folder in its PYTHONPATH
(instrumentation/).
"""

import os
import signal
from pathlib import Path

from flexrack_node.base.stored import or_nothing, read
from flexrack_node.watch.progress import make_progress, progress_path

# The first ones are glibc's and thread sanitizers', the last ones systemd's and debuggers'. Nothing in CPython, torch,
# NCCL, Open MPI or CUDA takes this one.
STACKS_SIGNAL = signal.SIGRTMIN + 9


def stacks_path(attempt: Path, rank: int) -> Path:
    """Where the rank's Python writes its stacks."""
    return attempt / f"rank-{rank}.stacks"


def begin_watching(attempt: Path, rank: int) -> None:
    """Changes this process's environment, which the rank inherits. Does nothing with `watch: false`, or where the file
    cannot be made: the rank matters more.
    """
    spec = or_nothing(read("run.spec", attempt.parents[1] / "spec.json"))
    if spec.get("watch") is False:
        return
    path = progress_path(attempt, rank)
    try:
        make_progress(path)
    except OSError:
        return
    profile = spec.get("profile")
    if profile:
        os.environ["FLEXRACK_PROFILE"] = f"{profile['skip']}:{profile['steps']}"
    old = os.environ.get("PYTHONPATH")
    os.environ.update(
        FLEXRACK_PROGRESS=str(path),
        FLEXRACK_STACKS=str(stacks_path(attempt, rank)),
        FLEXRACK_STACKS_SIGNAL=str(int(STACKS_SIGNAL)),
        PYTHONPATH=os.pathsep.join(
            [str(Path(__file__).resolve().parents[1] / "instrumentation"), *([old] if old else [])]
        ),
    )
