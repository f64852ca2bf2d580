"""restic for a node that has none, out of a package of Debian: an ar archive with a tar in it (deb(5)), unpacked
without root, and kept under its hash.
"""

import lzma
import os
import platform
import re
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Optional, Tuple

from flexrack_node.base import program_file
from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.program_wheel import machine
from flexrack_node.history.restic import tools, version_of

if TYPE_CHECKING:
    from flexrack_node.schema.history import ResticPackage, ResticPlaced

LIBC = (2, 34)  # that the package of Debian 13 needs
_PROGRAM_BYTES = 128 << 20
_MAGIC = b"!<arch>\n"


def why_not() -> Optional[Tuple[str, str]]:
    """(why, what helps) where the package cannot be used here."""
    hint = "install restic 0.14 or newer on the node, e.g. apt install restic; or leave workspace.autosave out"
    libc, version = platform.libc_ver()
    numbers = tuple(int(one) for one in re.findall(r"\d+", version)[:2])
    if machine() is None or libc != "glibc" or numbers < LIBC:
        return (
            f"this node has no restic of its own (0.14 or newer), and the one that flexrack brings needs glibc {LIBC[0]}.{LIBC[1]} on x86_64 or aarch64; here is {libc or 'another C library'} {version} on {platform.machine()}".replace(
                "  ", " "
            ),
            hint,
        )
    return None


def place(given: "ResticPackage", channel: Channel) -> "ResticPlaced":
    """{name, sha256} and the package's bytes. Errors: NODE_UNREACHABLE where it came damaged, NODE_UNFIT where it does
    not run here.
    """
    problem = why_not()
    if problem:
        raise NodeError("NODE_UNFIT", *problem)
    folder = tools(channel.root)
    record(channel.root, folder, "history")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = re.sub(r"[^0-9a-f]", "", given["sha256"])[:64]
    target = folder / digest
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as temp:
        package = program_file.receive(given, channel, Path(temp))
        part = Path(temp, digest)
        part.mkdir()
        unpack(package, part / "restic")
        if version_of(str(part / "restic")) is None:
            raise NodeError(
                "NODE_UNFIT",
                "the restic that flexrack brings does not run on this node",
                "install restic 0.14 or newer there",
            )
        shutil.rmtree(target, ignore_errors=True)
        os.rename(part, target)
    return {"path": str(target / "restic")}


def unpack(package: Path, target: Path) -> None:
    """Only usr/bin/restic, whatever else is in it. Errors: NODE_UNREACHABLE where it is none of Debian's."""
    try:
        with open(package, "rb") as stream:
            name, size = member(stream, b"data.tar")
            with tempfile.TemporaryFile(dir=target.parent) as copy:
                left = size
                while left:
                    data = stream.read(min(left, 1 << 20))
                    if not data:
                        raise ValueError("it ends early")
                    copy.write(data)
                    left -= len(data)
                copy.seek(0)
                with (
                    lzma.open(copy) if name.endswith(b".xz") else copy as inner,
                    tarfile.open(fileobj=inner, mode="r|") as archive,
                ):
                    for one in archive:
                        if (
                            one.isfile()
                            and os.path.normpath(one.name) == "usr/bin/restic"
                            and one.size <= _PROGRAM_BYTES
                        ):
                            source = archive.extractfile(one)
                            assert source is not None
                            with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700), "wb") as out:
                                shutil.copyfileobj(source, out, 1 << 20)
                                out.flush()
                                os.fsync(out.fileno())
                            return
        raise ValueError("there is no restic in it")
    except (ValueError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        raise NodeError(
            "NODE_UNREACHABLE", f"{package.name} is no package of restic: {error}", "run the command again"
        ) from error


def member(stream: BinaryIO, beginning: bytes) -> Tuple[bytes, int]:
    """Where a file of an ar archive begins, and how long it is: the stream is at its first byte then. ar(5): 60 bytes a
    header, contents at even offsets.
    """
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ValueError("it is no ar archive")
    while True:
        header = stream.read(60)
        if len(header) < 60 or header[58:] != b"`\n":
            raise ValueError("there is no data in it")
        name, size = header[:16].rstrip().rstrip(b"/"), int(header[48:58])
        if name.startswith(beginning):
            return name, size
        stream.seek(size + size % 2, os.SEEK_CUR)
