"""Copies from and to a remote, each compared afterwards: nothing counts as copied whose content is not known to be the
same.
"""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Tuple

from flexrack_node.base.disk_room import free_bytes, in_words
from flexrack_node.base.errors import NodeError
from flexrack_node.bucket.rclone import Rclone

if TYPE_CHECKING:
    from flexrack_node.schema.bucket import InputBrought
    from flexrack_node.schema.order import RunInput, RunUpload
    from flexrack_node.schema.result import UploadDone

Tell = Callable[[str, int, int], None]  # what, bytes done, of all
_SPECIAL = "\\*?[]{}"  # of rclone's patterns


def bring(rclone: Rclone, one: "RunInput", folder: Path, siblings: List[Path], tell: Tell) -> "InputBrought":
    """Makes folder/NAME what the remote has.

    What an earlier run has of it (`siblings`) need not come again. Raises NOT_FOUND,
    NODE_UNREACHABLE, NODE_UNFIT.
    """
    remote, target = one["from"], folder / one["name"]
    size = rclone.size(remote)
    if not target.exists():
        target.mkdir(mode=0o700, parents=True)
        for sibling in siblings:
            _link_tree(sibling, target)
            break
    free, have = free_bytes(folder), sum(path.stat().st_size for path in _files(target))
    if free is not None and size["bytes"] - have > free:
        raise NodeError(
            "NODE_UNFIT",
            f"{remote} has {in_words(size['bytes'])}, and {in_words(free)} are free below {folder}",
            "flexrack runs remove RUN",
            needed_bytes=size["bytes"],
            free_bytes=free,
        )
    sent = [0]

    def on_progress(done: int, total: int) -> None:
        sent[0] = max(sent[0], done)
        tell(one["name"], done, total or size["bytes"])

    compare = [] if rclone.has_hashes(remote) else ["--download"]
    _copy_and_compare(rclone, ["sync", remote, str(target)], compare, on_progress, f"{remote} did not come")
    for path in _files(target):
        path.chmod(0o444)
    return {"name": one["name"], "from": remote, "files": size["count"], "bytes": size["bytes"], "brought": sent[0]}


def upload(rclone: Rclone, one: "RunUpload", outputs: Path, run: str, tell: Tell) -> "UploadDone":
    """Copies what the outputs have of `files` to TO/RUN. Raises NODE_UNREACHABLE."""
    remote = one["to"] + ("" if one["to"].endswith((":", "/")) else "/") + run
    found, links = _meant(outputs, one["files"])
    total = sum(path.stat().st_size for path in found)
    if found:
        with tempfile.NamedTemporaryFile("w", prefix="flexrack-filter-") as patterns:
            # From the outputs on, and never from a folder in them: that may be a link by now, which would be followed
            # as the root.
            patterns.write(
                "".join(f"+ /{_escaped(name)}{'**' if name.endswith('/') else ''}\n" for name in one["files"]) + "- *\n"
                if one["files"]
                else "+ **\n",
            )
            patterns.flush()
            filters = ["--filter-from", patterns.name, "--no-traverse"]
            compare = [] if rclone.has_hashes(remote) else ["--download"]
            _copy_and_compare(
                rclone,
                ["copy", str(outputs), remote, *filters],
                compare,
                lambda done, _all: tell(one["to"], done, total),
                f"the outputs did not come to {remote}",
            )
    return {"to": remote, "files": len(found), "bytes": total, "links": links}


def _copy_and_compare(
    rclone: Rclone, words: List[str], compare: List[str], on_progress: Callable[[int, int], None], what: str
) -> None:
    verb, source, target, *filters = words
    # Where sizes alone were compared, what is of the same size and other content goes once more.
    for go, more in enumerate(([], ["--ignore-times"])):
        done = rclone.call([verb, source, target, *filters, "--checksum", *more], on_progress)
        if done.status != 0:
            raise NodeError(
                "NODE_UNREACHABLE", f"{what}: {done.why()}", "run it again: what has come does not come twice"
            )
        checked = rclone.call(
            ["check", source, target, *[one for one in filters if one != "--no-traverse"], "--one-way", *compare]
        )
        if checked.status == 0:
            return
        if go == 1:
            raise NodeError(
                "NODE_UNREACHABLE",
                f"{what} as it is: {checked.why()}",
                "run it again; if it stays, another one writes there",
            )


def _meant(outputs: Path, names: List[str]) -> Tuple[List[Path], int]:
    """Files that are meant, and how many links are not followed: they may lead anywhere."""
    found, links = [], 0
    for base, folders, files in os.walk(outputs, followlinks=False):
        for name in [*files, *folders]:
            path = Path(base, name)
            relative = path.relative_to(outputs).as_posix()
            if names and not any(
                relative == one or (one.endswith("/") and f"{relative}/".startswith(one)) for one in names
            ):
                continue
            if path.is_symlink():
                links += 1
            elif path.is_file():
                found.append(path)
    return found, links


def _escaped(name: str) -> str:
    return "".join(f"\\{one}" if one in _SPECIAL else one for one in name)


def _files(folder: Path) -> Iterator[Path]:
    for base, _folders, files in os.walk(folder, followlinks=False):
        for name in files:
            path = Path(base, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _link_tree(source: Path, target: Path) -> None:
    """rclone writes beside and renames, so what the other run has stays as it is."""
    for path in _files(source):
        own = target / path.relative_to(source)
        own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.link(path, own)
        except OSError:
            return  # another file system, or too many links: it comes anew


def siblings_of(run: Path, one: "RunInput", specs: "Iterator[Tuple[Path, Any]]") -> List[Path]:
    """What other runs here have of the same input, the newest first."""
    found = [
        folder / "inputs" / other["name"]
        for folder, spec in specs
        if folder != run
        for other in spec.get("inputs") or []
        if other["from"] == one["from"]
    ]
    return sorted((path for path in found if path.is_dir()), key=lambda path: path.stat().st_mtime, reverse=True)
