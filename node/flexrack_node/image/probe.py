"""Whether a runtime that takes an image as one folder works here: done, not asked."""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Callable, Dict, List, Mapping, Sequence, Tuple

_SECONDS = 20


def works(argv: Sequence[str], env: Mapping[str, str]) -> bool:
    """Whether a trial of the runtime ends well, in time."""
    try:
        done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def mounts(
    words: Callable[[str, List[Tuple[str, str]], str, List[str]], List[str]],
    env: Dict[str, str],
    files: Sequence[str],
) -> bool:
    """With this machine's own programs, in a folder that is an image; `files` are those that the runtime looks for in
    its /etc. `words` is the runtime's, but for its program.
    """
    with tempfile.TemporaryDirectory(prefix="flexrack-probe-") as temp:
        own = [path for path in ("/bin", "/usr", "/lib", "/lib64") if os.path.isdir(path)]
        for name in ("dev", "etc", "proc", "sys", "tmp", *(path[1:] for path in own)):
            Path(temp, name).mkdir(exist_ok=True)
        for name in files:
            Path(temp, "etc", name).touch()
        return works(words(temp, [(path, path) for path in own], "/", ["/bin/sh", "-c", ":"]), env)
