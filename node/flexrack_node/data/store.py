"""Where data sets lie on this node. A version is known by its content, and what two versions share is there once:

    <root>/data/blobs/<ab>/<sha256>[.x]      a content, 0444; .x: of executable files, 0555
                /parts/<sha256>              the beginning of a content that is on its way (parts.py)
                /versions/<digest>/          claim-RUN: a run is about to begin with it; manifest.json, which is there once all of it is; used (its time: when a run began with it last)
                                  /tree/     the files as they are called: hard links to the contents, in folders of 0555
                /lock                        held while something of this is changed

A content that only its own name links to belongs to no version. Why: docs/adr/0046.
"""

import hashlib
import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional, Sequence, Set, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.installed import make_writable, record
from flexrack_node.base.stored import read, write

if TYPE_CHECKING:
    from flexrack_node.schema.data import DataFile, DataManifest

_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")  # as run/files.py
_DIGEST = re.compile(r"[0-9a-f]{64}")
# a run whose folder is there and whose spec is not, or that has claimed what it is about to begin with
_STARTING_SECONDS = 3600.0


class Store:
    """Paths, and what is there; makes nothing by itself."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "data"
        self.blobs = self.path / "blobs"
        self.versions = self.path / "versions"
        self.parts = self.path / "parts"

    def lock(self, channel: Channel) -> FileLock:
        return FileLock(self.path / "lock", channel, "the data sets of this node")

    def make(self) -> None:
        if not self.path.exists():
            record(self.root, self.path, "data")
        for folder in (self.path, self.blobs, self.versions, self.parts):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def blob(self, digest: str, executable: bool) -> Path:
        return self.blobs / digest[:2] / (digest[2:] + (".x" if executable else ""))

    def version(self, digest: str) -> Path:
        return self.versions / check_digest(digest)

    def manifest(self, digest: str) -> "Optional[DataManifest]":
        """None where it is not whole."""
        return read("data.manifest", self.version(digest) / "manifest.json")

    def whole(self) -> "List[DataManifest]":
        names = sorted(os.listdir(self.versions)) if self.versions.is_dir() else []
        return [one for one in (self.manifest(name) for name in names if _DIGEST.fullmatch(name)) if one]

    def used(self, digest: str) -> float:
        try:
            return (self.version(digest) / "used").stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def pins(self) -> Dict[str, List[str]]:
        """Runs that are not over, by the version that they have."""
        found: Dict[str, List[str]] = {}
        for link in (self.root / "runs").glob("*/data/*"):
            run = link.parent.parent
            try:
                digest = Path(os.readlink(link)).parent.name
                is_begun = (run / "spec.json").exists() or time.time() - link.lstat().st_mtime < _STARTING_SECONDS
            except OSError:
                continue
            if is_begun and not (run / "result.json").exists():
                found.setdefault(digest, []).append(run.name)
        for claim in self.versions.glob("*/claim-*"):
            name = claim.name.partition("-")[2]
            try:
                is_young = time.time() - claim.stat().st_mtime < _STARTING_SECONDS
            except OSError:
                continue
            if (
                is_young
                and not (self.root / "runs" / name / "spec.json").exists()
                and name not in found.get(claim.parent.name, [])
            ):
                found.setdefault(claim.parent.name, []).append(name)
        return found

    def claim(self, digest: str, run: "Optional[str]") -> None:
        """The run is about to begin with it: until then nobody else's data takes its place. Under the lock."""
        if run is not None:
            if not _RUN.fullmatch(run):
                raise NodeError("BUG", f"not a run id: {run!r}")
            (self.version(digest) / f"claim-{run}").touch(mode=0o600)

    def contents(self) -> Iterator[Tuple[Path, os.stat_result]]:
        """Every content that is here whole."""
        for folder in self.blobs.iterdir() if self.blobs.is_dir() else []:
            for entry in os.scandir(folder):
                yield Path(entry.path), entry.stat(follow_symlinks=False)

    def begun(self) -> Iterator[Tuple[Path, os.stat_result]]:
        """Every content that has come in part."""
        for entry in os.scandir(self.parts) if self.parts.is_dir() else []:
            yield Path(entry.path), entry.stat(follow_symlinks=False)

    def bytes(self) -> int:
        return sum(info.st_size for found in (self.contents(), self.begun()) for _path, info in found)

    def keep(self, manifest: "DataManifest") -> None:
        """Makes the tree of a version whose contents are all here. Under the lock."""
        target = self.version(manifest["digest"])
        discard(target)
        aside = self.versions / f".{manifest['digest']}"
        discard(aside)
        (aside / "tree").mkdir(parents=True, mode=0o700)
        folders: Set[Path] = {aside / "tree"}
        files: Any = manifest["files"]
        for path, executable, _size, digest in files:
            own = aside / "tree" / check_path(path)
            for folder in reversed([one for one in own.parents if (aside / "tree") in one.parents]):
                if folder not in folders:
                    folder.mkdir(mode=0o700)
                    folders.add(folder)
            try:
                os.link(self.blob(digest, executable), own)
            except OSError as error:
                if error.errno != 31:  # EMLINK: the same content very many times
                    raise
                shutil.copy2(self.blob(digest, executable), own)
        for folder in folders:
            os.chmod(folder, 0o555)
        write("data.manifest", aside / "manifest.json", manifest)
        (aside / "used").touch(mode=0o600)
        os.rename(aside, target)

    def drop(self, digest: str) -> None:
        """A version, and what of it no other one has. Under the lock."""
        manifest = self.manifest(digest)
        discard(self.version(digest))
        files: Any = manifest["files"] if manifest else []
        for content, executable in {(content, executable) for _path, executable, _size, content in files}:
            blob = self.blob(content, executable)
            if blob.exists() and blob.stat().st_nlink == 1:
                blob.unlink()

    def sweep(self, keeping: Set[str], seconds: float) -> None:
        """Drops what pushes left that were cut more than `seconds` ago, except contents of `keeping`. Under the lock."""
        before = time.time() - seconds
        (self.path / "part").unlink(missing_ok=True)  # of a release that kept one for all
        left = [(path, path.parent.name + path.name[:62], info) for path, info in self.contents() if info.st_nlink == 1]
        left += [(path, path.name, info) for path, info in self.begun()]
        for path, digest, info in left:
            if digest not in keeping and info.st_mtime <= before:
                path.unlink()


def discard(folder: Path) -> None:
    """Also where it has folders that cannot be written to. What is not there is fine."""
    if folder.exists():
        make_writable(folder)
        shutil.rmtree(folder)


def digest_of(files: "Sequence[DataFile]") -> str:
    """What a version is called: SHA-256 over its files by path, each with its mode and content."""
    sha = hashlib.sha256()
    lines: Any = files
    for path, executable, _size, digest in sorted(lines, key=lambda one: bytes(one[0].encode())):
        sha.update(f"{path}\0{'x' if executable else '-'}\0{digest}\n".encode())
    return sha.hexdigest()


def check_digest(text: Any) -> str:
    if not isinstance(text, str) or not _DIGEST.fullmatch(text):
        raise NodeError("BUG", f"not a digest: {text!r}")
    return text


def check_path(path: Any) -> str:
    parts = path.split("/") if isinstance(path, str) else []
    if not parts or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise NodeError("BUG", f"not a path inside a data set: {path!r}")
    return str(path)
