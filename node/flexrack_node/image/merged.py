"""What a stack of layers looks like as one tree, without a mount: for questions about an image, and for places where
something is to be mounted into it.
"""

import os
import re
import stat
from typing import Iterator, List, Optional, Tuple, Union

_MOST_LINKS = 40
_READ = 64 << 20


class MergedLayers:
    """`layers`: absolute paths, the lowest first. Paths that are asked are absolute, as in the image; nothing outside
    of the layers is ever looked at.
    """

    def __init__(self, layers: List[str]) -> None:
        self._layers = layers

    def entry(self, path: str) -> Optional[Tuple[str, os.stat_result]]:
        """(its file here, lstat) of what is at a path without links on the way; None where nothing is."""
        parts = [part for part in path.split("/") if part]
        for layer in reversed(self._layers):
            here, hidden = layer, False
            for index, part in enumerate(parts):
                here = f"{here}/{part}"
                try:
                    info = os.lstat(here)
                except OSError:
                    break
                last = index == len(parts) - 1
                if stat.S_ISCHR(info.st_mode):
                    return None  # a whiteout
                if last:
                    return here, info
                if not stat.S_ISDIR(info.st_mode):
                    return None  # a file hides what lower layers have below the name
                hidden = hidden or is_opaque(here)
            if hidden:
                return None
        return None

    def resolve(self, path: str) -> Optional[str]:
        """The path without any link in it, as the image itself would follow them; None where that has no end. What is
        missing stays as it is named.
        """
        done: List[str] = []
        todo = [part for part in path.split("/") if part]
        links = 0
        while todo:
            part = todo.pop(0)
            if part in (".", ""):
                continue
            if part == "..":
                done = done[:-1]
                continue
            found = self.entry("/" + "/".join([*done, part]))
            if found and stat.S_ISLNK(found[1].st_mode):
                links += 1
                if links > _MOST_LINKS:
                    return None
                target = os.readlink(found[0])
                if target.startswith("/"):
                    done = []
                todo = target.split("/") + todo
                continue
            done.append(part)
        return "/" + "/".join(done)

    def file(self, path: str) -> Optional[str]:
        """Where a regular file of the image lies here, links followed within the image."""
        resolved = self.resolve(path)
        found = self.entry(resolved) if resolved else None
        return found[0] if found and stat.S_ISREG(found[1].st_mode) else None

    def is_folder(self, path: str) -> bool:
        found = self.entry(path)
        return bool(found and stat.S_ISDIR(found[1].st_mode))

    def text(self, path: str, most: int = 1 << 20) -> str:
        """Of a file of the image; empty where there is none."""
        place = self.file(path)
        if place is None:
            return ""
        with open(place, "rb") as file:
            return file.read(most).decode(errors="replace")

    def names(self, path: str) -> Iterator[str]:
        """Of what lies in a folder of the image, whichever layer has it; each maybe more than once."""
        resolved = self.resolve(path)
        for layer in self._layers if resolved else []:
            try:
                for name in os.listdir(layer + (resolved or "")):
                    if self.entry(f"{resolved}/{name}"):
                        yield name
            except OSError:
                continue


def is_opaque(folder: Union[str, int]) -> bool:
    """A path, which is not followed, or a descriptor."""
    try:
        return os.getxattr(folder, "user.overlay.opaque", follow_symlinks=isinstance(folder, int)) == b"y"
    except OSError:
        return False


def libc_of(image: MergedLayers) -> Tuple[str, Tuple[int, int]]:
    """(`glibc` | `musl` | `none`, its version): what programs and libraries that come from outside would be linked
    against.
    """
    for folder in (
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    ):
        place = image.file(f"{folder}/libc.so.6")
        if place:
            with open(place, "rb") as file:
                found = re.search(rb"GNU C Library [^\n]*version (\d+)\.(\d+)", file.read(_READ))
            return ("glibc", (int(found.group(1)), int(found.group(2)))) if found else ("glibc", (0, 0))
    if any(name.startswith("ld-musl-") for name in image.names("/lib")):
        return "musl", (0, 0)
    return "none", (0, 0)


def needed_glibc(libraries: List[str]) -> Tuple[int, int]:
    """The newest version of a symbol of glibc that one of these files asks for."""
    newest = (0, 0)
    for path in libraries:
        try:
            with open(path, "rb") as file:
                found = re.findall(rb"GLIBC_(\d+)\.(\d+)", file.read(_READ))
        except OSError:
            continue
        newest = max([newest, *((int(major), int(minor)) for major, minor in found)])
    return newest
