"""Programs of the node that are asked a question: quick, without a terminal, in the language that parsers know."""

import os
import subprocess
from typing import List

SECONDS = 10.0


def run_quick(argv: List[str], seconds: float = SECONDS) -> str:
    """What it prints. Errors: RuntimeError with its exit status and first line of complaint, TimeoutExpired."""
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode != 0:
        complaint = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        raise RuntimeError(
            f"{os.path.basename(argv[0])} ended with {done.returncode}{f': {complaint[0][:200]}' if complaint else ''}"
        )
    return done.stdout.decode("utf-8", "replace")
