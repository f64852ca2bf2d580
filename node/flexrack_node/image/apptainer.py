"""Apptainer: an image that is one folder, mounted read-only. It is what many clusters have, installed by root with a
setuid helper or a profile of AppArmor of its own, so that it works where nothing else may make a namespace. Facts:
apptainer-exec(1) of 1.4.

It has the node's /dev and processes: an image, and never a sandbox.
"""

import os
from functools import partial
from typing import Dict, List, Mapping, Optional, Tuple

from flexrack_node.image import probe
from flexrack_node.image.sandbox import home_of

NAME = "apptainer"
# What its configuration may add by itself: a view is made of what was ordered.
_NOT_MOUNTED = "home,tmp,cwd,hostfs,bind-paths"
# It sets these itself, and takes them from here only where another name asks for it; HOME is an option of its own.
_OWN = ("PATH", "LD_LIBRARY_PATH", "PS1")


def find() -> Optional[str]:
    import shutil

    return shutil.which("apptainer")


def words(program: str, folder: str, binds: List[Tuple[str, str]], cwd: str, argv: List[str]) -> List[str]:
    """`--no-eval`: else a shell would read the values of variables as its own text. As root a user namespace is enough,
    and all capabilities of a machine are not always there to be had.
    """
    return [
        program,
        "--silent",
        "exec",
        *(["--userns"] if os.geteuid() == 0 else []),
        "--no-eval",
        "--no-mount",
        _NOT_MOUNTED,
        "--home",
        f"{folder}:{home_of()}",  # its source is looked for, and not mounted
        *(word for source, target in binds for word in ("--mount", _mount(source, target))),
        "--cwd",
        cwd,
        folder,
        *argv,
    ]


def environment(env: Mapping[str, str]) -> Dict[str, str]:
    """Its own settings (APPTAINER_BIND and the like) are nobody's wish here."""
    kept = {name: value for name, value in env.items() if not name.startswith(("APPTAINER", "SINGULARITY"))}
    return {**kept, **{f"APPTAINERENV_{name}": kept[name] for name in _OWN if name in kept}}


def works(program: str) -> bool:
    return probe.mounts(partial(words, program), environment(os.environ), ("passwd", "group", "hosts", "resolv.conf"))


def _mount(source: str, target: str) -> str:
    """Words of CSV: a value in quotes may have commas."""
    return ",".join(
        [
            "type=bind",
            *(
                '"{}={}"'.format(name, path.replace('"', '""'))
                for name, path in (("source", source), ("destination", target))
            ),
        ]
    )
