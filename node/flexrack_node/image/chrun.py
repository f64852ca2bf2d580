"""ch-run of Charliecloud: an image that is one folder, mounted read-only in a user namespace, where the kernel stacks
no layers in one. Facts: ch-run(1) of 0.31.

It makes no namespace of processes and hides nothing: an image, and never a sandbox.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, List, Mapping, Optional, Tuple

NAME = "ch-run"
_SECONDS = 20


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
    """Done, not asked: this machine's own programs, in a folder that is an image."""
    with tempfile.TemporaryDirectory(prefix="flexrack-probe-") as temp:
        own = [path for path in ("/bin", "/usr", "/lib", "/lib64") if os.path.isdir(path)]
        for name in ("dev", "etc", "proc", "sys", "tmp", *(path[1:] for path in own)):
            Path(temp, name).mkdir(exist_ok=True)
        for name in ("hosts", "resolv.conf"):
            Path(temp, "etc", name).touch()
        try:
            done = subprocess.run(
                words(program, temp, [(path, path) for path in own], "/", ["/bin/sh", "-c", ":"]),
                env=environment(os.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0
