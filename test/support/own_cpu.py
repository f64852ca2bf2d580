"""Where tests are measured (scripts/testing/cpu.ts): a cgroup for what one of them takes."""

import os
from pathlib import Path


def join(name):
    """This process, and all that it starts from now on, counts for `name`; where nobody measures, nothing happens."""
    if groups := os.environ.get("FLEXRACK_CPU_GROUPS"):
        folder = Path(groups, name)
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.procs").write_text(str(os.getpid()))
