"""Which folder below flexrack's root is this machine's. Several machines may share a home (NFS), and with it the root.

    <root>/machine               whose the folder is, the first one that came; its first line is compared by sh, too (src/lib/host/scripts.ts)
    <root>/nodes/NAME/machine    of another machine: all that is its own lies in this folder, laid out as in the root
    <root>/environments/         everybody's, under locks (workspace/environment.py)

installer.py runs it before the package is there, so it imports nothing of that. docs/adr/0026 says why all this.
"""

import itertools
import os
import re
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

CLAIM = "machine"
_NODES = "nodes"
_NO_ADDRESS = re.compile(r"[0:]*")

Facts = Dict[str, Any]


def facts(one_for_all: bool = False) -> Facts:
    """{host, machine, addresses}: what tells this machine from others; empty where it is not known. `one_for_all`: the
    login nodes of a Slurm are one.
    """
    if one_for_all:
        return {"host": "slurm", "machine": "slurm", "addresses": []}
    return {"host": os.uname().nodename, "machine": _machine_id(), "addresses": sorted(_addresses())}


def is_same(one: Facts, other: Facts) -> bool:
    """Two of three facts agree, of those that both know. One alone is not enough: clones of an image have one machine
    id, diskless nodes a new one at each start, hosts are renamed, and cards replaced.
    """
    known = [key for key in ("host", "machine", "addresses") if one[key] and other[key]]
    agree = [
        key for key in known if (set(one[key]) & set(other[key]) if key == "addresses" else one[key] == other[key])
    ]
    return len(agree) >= max(1, min(2, len(known)))


def own_folder(root: Path, me: Facts) -> Path:
    """This machine's folder, claimed where it has none yet: the root itself for the first machine, root/nodes/NAME for
    others.
    """
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = find(root, me) or _take(root, me)
    claim = _read(own)
    # one of the facts is another by now; sh compares two of them as they are
    if claim and any(claim[key] != me[key] for key in me):
        _write(own, me, claim["below"], os.replace)
    return own


def _take(root: Path, me: Facts) -> Path:
    if _claim(root, me, below=False):
        return root
    for number in itertools.count(1):
        found = find(root, me)
        if found:  # another connection to this machine was quicker
            return found
        folder = root / _NODES / f"{_name_of(me)}{f'-{number}' if number > 1 else ''}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _claim(folder, me, below=True):
            return folder
    raise AssertionError("a count has no end")


def find(root: Path, me: Facts) -> Optional[Path]:
    """This machine's folder; None where it has none."""
    for folder in [root, *sorted((root / _NODES).glob("[!.]*"))]:
        claim = _read(folder)
        if claim and is_same(claim, me):
            return folder
    return None


def shared_root(root: Path) -> Path:
    """The root that machines share, given the folder of one of them."""
    claim = _read(root)
    return root.parent.parent if claim and claim["below"] else root


def others(root: Path) -> List[Path]:
    """Folders of the other machines that have one in the shared root, given the folder of one of them."""
    shared = shared_root(root)
    folders = [shared, *sorted((shared / _NODES).glob("[!.]*"))]
    return [folder for folder in folders if folder != root and (folder / CLAIM).exists()]


def _claim(folder: Path, me: Facts, below: bool) -> bool:
    """False where somebody has claimed it. link(2) never replaces and is atomic on NFS as well; the file is whole when
    it appears.
    """
    try:
        _write(folder, me, below, os.link)
        return True
    except FileExistsError:
        return False


def _write(folder: Path, me: Facts, below: bool, publish: Callable[[Path, Path], None]) -> None:
    # Several machines may have processes with our pid.
    draft = folder / f".{CLAIM}.{_name_of(me)}.{os.getpid()}.{time.time_ns()}"
    try:
        draft.write_text(
            f"{me['host']} {me['machine']}\n{' '.join(me['addresses'])}\n{_NODES if below else ''}\n", encoding="utf-8"
        )
        publish(draft, folder / CLAIM)
    finally:
        draft.unlink(missing_ok=True)


def _read(folder: Path) -> Optional[Facts]:
    """A claim, with `below`: the folder lies below the root that it shares. None where there is none."""
    try:
        lines = (folder / CLAIM).read_text(encoding="utf-8").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    host, _, machine = lines[0].partition(" ")
    return {
        "host": host,
        "machine": machine,
        "addresses": lines[1].split() if len(lines) > 1 else [],
        "below": lines[2:3] == [_NODES],
    }


def _name_of(me: Facts) -> str:
    """Short, because sockets lie below it, whose paths have 107 bytes at most."""
    return re.sub(r"[^A-Za-z0-9_-]", "-", me["host"].split(".")[0])[:32].strip("-") or "node"


def _machine_id() -> str:
    """As sh reads it: the first line."""
    try:
        text = Path("/etc/machine-id").read_text(encoding="utf-8", errors="replace").split("\n")[0].strip()
    except OSError:
        return ""
    return text if re.fullmatch(r"[0-9a-f]+", text) else ""


def _addresses() -> List[str]:
    """Hardware addresses of real cards: those that the kernel makes up (bridges, containers, bonds) have no device."""
    found = []
    for card in Path("/sys/class/net").glob("*"):
        try:
            address = (card / "address").read_text().strip() if (card / "device").exists() else ""
        except OSError:
            continue
        if not _NO_ADDRESS.fullmatch(address):
            found.append(address)
    return found
