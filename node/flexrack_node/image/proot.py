"""proot: an image that is one folder, without any namespace: each path that a program names is translated while it is
traced (ptrace(2)). The last resort. Facts: proot(1) of 5.1.

It separates nothing: what a program does without naming a path, or where it is not traced, is done on the node's own
files. An image, and never a sandbox.
"""

import os
from typing import Dict, List, Mapping, Optional, Tuple

from flexrack_node.image import probe

NAME = "proot"
_KERNELS = ("/dev", "/proc", "/sys")


def find() -> Optional[str]:
    import shutil

    return shutil.which("proot")


def words(program: str, folder: str, binds: List[Tuple[str, str]], cwd: str, argv: List[str]) -> List[str]:
    """`!`: a link of the image at the place is not followed, as the place has none."""
    own = [word for path in _KERNELS if os.path.isdir(path) for word in ("-b", path)]
    return [
        program,
        "-v",
        "-1",
        "-r",
        folder,
        *own,
        *(word for source, target in binds for word in ("-b", f"{source}:{target}!")),
        "-w",
        cwd,
        *argv,
    ]


def environment(env: Mapping[str, str]) -> Dict[str, str]:
    return dict(env)


def works(program: str) -> bool:
    """Whether processes may be traced here at all, which containers forbid at times."""
    return probe.works([program, "-v", "-1", "-r", "/", "/bin/sh", "-c", ":"], os.environ)
