"""The sections of rclone.conf that a run needs: in a file of its own, 0600, for as long as they are needed and no
longer.
"""

import os
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Dict, Iterator, List

NAME = "rclone.conf"
_SECRET = re.compile(r"pass|secret|token|key|credential|auth|sas|account|user", re.I)
_LEAST = 6  # characters: shorter values would be found in every other word


def keep(spec: Any, path: Path) -> Any:
    """The spec without its `remotes`, which are written to the run's folder; and where its inputs are."""
    text = spec.get("remotes")
    rest = {key: value for key, value in spec.items() if key != "remotes"}
    if text:
        fd = os.open(path / NAME, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(fd, "w") as file:
            file.write(text)
    if rest.get("inputs"):
        rest["inputs_folder"] = str(path / "inputs")
    return rest


def of_run(path: Path) -> Path:
    """Of a run, or of a member of a job of Slurm, whose run is further up."""
    return next((one / NAME for one in (path, *list(path.parents)[:4]) if (one / NAME).exists()), path / NAME)


def forget(path: Path) -> None:
    """Nothing of the run needs them any more."""
    (path / NAME).unlink(missing_ok=True)


@contextmanager
def for_now(text: str, folder: Path) -> Iterator[Path]:
    """A file with them while something is done. What a killed one has left goes with the next."""
    for entry in folder.glob(".remotes-*"):
        try:
            if time.time() - entry.stat().st_mtime > 60 and not _is_at_work(entry.name):
                entry.unlink()
        except OSError:
            continue
    import tempfile  # only now: it would slow every start

    fd, name = tempfile.mkstemp(prefix=f".remotes-{os.getpid()}-", dir=folder)
    try:
        with open(fd, "w") as file:
            file.write(text)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _is_at_work(name: str) -> bool:
    found = re.match(r"\.remotes-(\d+)-", name)
    return bool(found and os.path.exists(f"/proc/{found.group(1)}"))


def secrets_in(text: str) -> List[str]:
    """Values that no message may have."""
    found: Dict[str, None] = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if _SECRET.search(key) and len(value.strip()) >= _LEAST:
            found[value.strip()] = None
    return sorted(found, key=len, reverse=True)
