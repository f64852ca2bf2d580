"""ch-run of Charliecloud: an image that is one folder, mounted read-only in a user namespace, where the kernel stacks
no layers in one. Facts: ch-run(1) of 0.31.

It makes no namespace of processes and hides nothing: an image, and never a sandbox.
"""

import os
from functools import partial
from typing import Dict, List, Mapping, Optional, Tuple

from flexrack_node.image import probe

NAME = "ch-run"


def find() -> Optional[str]:
    import shutil

    return shutil.which("ch-run")


def words(program: str, folder: str, binds: List[Tuple[str, str]], cwd: str, argv: List[str]) -> List[str]:
    return [
        program,
        "--no-passwd",
        *(f"--bind={source}:{target}" for source, target in binds),
        f"--cd={cwd}",
        folder,
        "--",
        *argv,
    ]


def environment(env: Mapping[str, str]) -> Dict[str, str]:
    """It asks for USER, and takes the rest as it is."""
    return {**env, "USER": env.get("USER") or str(os.getuid())}


def works(program: str) -> bool:
    return probe.mounts(partial(words, program), environment(os.environ), ("hosts", "resolv.conf"))
