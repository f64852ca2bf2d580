"""Numbers of processes that were told in another namespace of them, as a sandbox has one: pid_namespaces(7)."""

import os
from typing import Dict, Optional, Tuple

_known: Dict[Tuple[str, int], int] = {}


def outer_pid(namespace: str, pid: int) -> Optional[int]:
    """What process `pid` of `namespace` (`pid:[4026532841]`, a link of /proc) is called here; None where there is none
    any more.
    """
    if (namespace, pid) in _known and _is(_known[namespace, pid], namespace, pid):
        return _known[namespace, pid]
    for name in os.listdir("/proc"):
        if name.isdigit() and _is(int(name), namespace, pid):
            _known[namespace, pid] = int(name)
            return int(name)
    return None


def own_namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _is(here: int, namespace: str, pid: int) -> bool:
    try:
        if os.readlink(f"/proc/{here}/ns/pid") != namespace:
            return False
        with open(f"/proc/{here}/status", "rb") as file:
            line = next((one for one in file if one.startswith(b"NSpid:")), b"")
        return line.split()[-1:] == [str(pid).encode()]
    except OSError:
        return False
