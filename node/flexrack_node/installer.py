"""Puts this very program on a node. Runs before the package is there, so it imports nothing of it.

Input: one JSON value on stdin {root, pooled, hash, python, files: {name: text}}; output: one JSON line, as the verbs
give it. `root` is what machines with one home may share, the `root` of the answer what of it is this machine's;
`pooled`: the machines behind this node's name count as one.
"""

import errno
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional

UNUSED_SECONDS = 24 * 3600
UNFIT = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "it may not be written to",
    errno.EPERM: "it may not be written to",
    errno.ENOTDIR: "part of it is a file",
}


def install(order: Dict[str, Any]) -> None:
    """Unpacks beside, renames, records, removes versions nobody uses."""
    root = Path(order["root"])
    try:
        own = settle(root, order)
        answer = {"result": {"root": str(own), "installed": place(own, order), "removed": prune(own, order["hash"])}}
    except OSError as error:
        reason = UNFIT.get(error.errno or 0, error.strerror or str(error))
        message = f"{root} cannot be used: {reason}"
        answer = {"error": {"code": "NODE_UNFIT", "message": message, "details": {"path": error.filename or str(root)}}}
    print(json.dumps(answer), flush=True)


def settle(root: Path, order: Dict[str, Any]) -> Path:
    """This machine's folder in it: base/home.py, which is not there yet as a file."""
    os.umask(0o077)
    home: Dict[str, Any] = {"__name__": "home"}
    exec(order["files"]["base/home.py"], home)
    own: Path = home["own_folder"](root, home["facts"](order["pooled"]))
    note(own, home["CLAIM"], "claim", order["files"])
    return own


def place(root: Path, order: Dict[str, Any]) -> bool:
    """False if somebody else was quicker."""
    os.umask(0o077)
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    programs = root / "program"
    programs.mkdir(mode=0o700, exist_ok=True)
    target = programs / order["hash"]
    draft = programs / f".{order['hash']}.{os.getpid()}"
    try:
        for name, text in order["files"].items():
            file = draft / "flexrack_node" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        write_python(draft, order["python"])
        try:
            draft.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            write_python(target, order["python"])  # it was there, with a Python that is gone
            return False
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    note(root, f"program/{order['hash']}", "program", order["files"])
    return True


def note(root: Path, path: str, kind: str, files: Dict[str, str]) -> None:
    """As installed.record does; a second line of one path is passed over by who reads. The number of a line is in
    base/file_schemas.py, which comes with us.
    """
    file = root / "installed.jsonl"
    if kind == "claim" and file.exists():
        return
    numbers: Dict[str, Any] = {}
    exec(files["base/file_schemas.py"], numbers)
    line = {
        "schema": numbers["SCHEMAS"]["installed.entry"],
        "path": path,
        "kind": kind,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    with open(file, "a", encoding="utf-8") as record:
        record.write(json.dumps(line) + "\n")


def write_python(folder: Path, python: str) -> None:
    """Which interpreter runs it: the next look need not start one to find out. Last, and whole or not at all."""
    draft = folder / f".python.{os.getpid()}"
    draft.write_text(python + "\n", encoding="utf-8")
    draft.rename(folder / "python")


def prune(root: Path, keep: str) -> List[str]:
    """Removes versions that nobody asked for in a day and that no process runs."""
    running = commands_running()
    removed = []
    for folder in (root / "program").iterdir():
        if (
            folder.name == keep
            or running is None
            or any(f"/program/{folder.name}/" in command for command in [*running, *after_reboot(root)])
        ):
            continue
        try:
            if time.time() - folder.stat().st_mtime < UNUSED_SECONDS:
                continue
        except FileNotFoundError:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        removed.append(folder.name)
    return removed


def after_reboot(root: Path) -> List[str]:
    """What starts services again then: service/comeback.py."""
    try:
        return [(root / "boot" / "resume").read_text(encoding="utf-8")]
    except FileNotFoundError:
        return []


def commands_running() -> Optional[List[str]]:
    """Command lines of all processes, or None where that cannot be known (then nothing is removed)."""
    if not Path("/proc/self/cmdline").exists():
        return None
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append((folder / "cmdline").read_bytes().decode("utf-8", "replace"))
            except OSError:
                pass
    return found


if __name__ == "__main__":
    install(json.load(sys.stdin))
