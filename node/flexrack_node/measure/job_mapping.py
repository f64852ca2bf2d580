"""Which run has which GPU, for NVIDIA's dcgm-exporter: in the folder of its `--hpc-job-mapping-dir` a file per GPU, called by
the GPU's index, with the name of a job in each line (dcgm-exporter, internal/pkg/transformation/hpc.go). It adds a label
`hpc_job` to all series of that GPU, once for each line.

A file is changed under a lock of the folder, and others' lines stay: a scheduler may write there, too. One file that the
exporter cannot read takes the labels from all GPUs, so files are readable for everybody.
"""

import contextlib
import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Callable, Iterable, Iterator, List, Set

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import replace_file
from flexrack_node.run.files import open_run

_MOST = 64 * 1024  # characters of a file: a job a line


class JobMapping:
    """Of one run on one node. `hold()` at each look; `close()` takes the run out again. Raises OSError.

    `is_over`: whether a line names a run of this account that has ended: one that was killed together with its
    supervisor left it there.
    """

    def __init__(self, folder: Path, run: str, is_over: Callable[[str], bool]) -> None:
        self._folder, self._run, self._is_over = folder, run, is_over
        self._held: Set[str] = set()

    def hold(self, indexes: Iterable[str]) -> None:
        """The run has these GPUs, by their indexes."""
        for index in set(indexes) - self._held:
            self._change(index, lambda jobs: [*jobs, self._run])
            self._held.add(index)

    def close(self) -> None:
        while self._held:
            self._change(self._held.pop(), list)

    def _change(self, index: str, changed: Callable[[List[str]], List[str]]) -> None:
        if not index.isdigit():
            return
        path = self._folder / index
        with _locked(self._folder):
            before = _lines(path)
            jobs = changed([job for job in before if job != self._run and not self._is_over(job)])
            if jobs:
                replace_file(path, "".join(f"{job}\n" for job in jobs), mode=0o644, durable=False)
            else:
                path.unlink(missing_ok=True)


def run_is_over(root: Path, run: str) -> Callable[[str], bool]:
    """Whether a job is a run below this root, not this one, whose supervisor is gone."""

    def is_over(job: str) -> bool:
        try:
            return job != run and not open_run(root, job).is_held()
        except NodeError:
            return False  # somebody else's job

    return is_over


def _lines(path: Path) -> List[str]:
    """Not through a link that another account put there: what it leads to would become readable for everybody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return []
    with open(descriptor, errors="replace") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
            raise OSError(errno.EINVAL, "is no file of its own", str(path))
        return file.read(_MOST).splitlines()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Whoever may write in the folder may lock it, and a file for it would be one more that somebody owns."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
