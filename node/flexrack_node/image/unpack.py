"""A layer's tar as a folder that overlayfs takes as a lower one, unpacked by whoever we are. Facts: OCI image-spec,
layer.md; kernel, filesystems/overlayfs.

What an ordinary user cannot have is left out and counted: devices, owners, setuid, capabilities. Nothing is ever
written outside of the folder, whatever the archive says; what could only be meant as an attempt at that (`..` in a
name) is refused.
"""

import os
import stat
import tarfile
from typing import Any, Dict, List, Tuple

from flexrack_node.image.layer_stream import PIECE, BadLayer, Header, LayerStream
from flexrack_node.image.scoped import LeavesRoot, ScopedFolder, discard, kind_of, parts_of

MOST_ENTRIES = 4_000_000
_WHITEOUT, _OPAQUE = b".wh.", b".wh..wh..opq"
_OPAQUE_MARK = "user.overlay.opaque"  # what overlayfs looks for where it is mounted in a user namespace (`userxattr`)
_LATEST = 1 << 33  # seconds: later times are not kept by all file systems

Counts = Dict[str, int]


def unpack(stream: LayerStream, folder: str, most_entries: int = MOST_ENTRIES) -> Counts:
    """-> {files, bytes, devices}. Raises BadLayer, OSError; the folder is then half full, and the caller's to remove."""
    work = _Unpacking(folder, stream.most)
    try:
        source: Any = stream  # a stream needs `read` alone
        with tarfile.open(
            fileobj=source, mode="r|", tarinfo=Header, encoding="utf-8", errors="surrogateescape", bufsize=PIECE
        ) as archive:
            for number, member in enumerate(archive):
                if number >= most_entries:
                    raise BadLayer(f"it has more than {most_entries} entries")
                try:
                    work.take(archive, member)
                except LeavesRoot:
                    raise BadLayer(f"{_shown(member.name)} leaves the image") from None
                seen: Any = archive
                seen.members = []  # tarfile keeps every header otherwise
        work.finish()
        return work.counts
    except (tarfile.TarError, RecursionError, OverflowError, ValueError) as error:
        raise error if isinstance(error, BadLayer) else BadLayer(f"it is no whole tar archive: {error}") from None
    finally:
        work.root.close()


class _Unpacking:
    def __init__(self, folder: str, most: int) -> None:
        self.root, self.most = ScopedFolder(folder), most
        self.counts: Counts = {"files": 0, "bytes": 0, "devices": 0}
        self._links: List[Tuple[List[bytes], List[bytes], str]] = []
        self._folder_times: Dict[Tuple[bytes, ...], int] = {}

    def take(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        parts = parts_of(member.name.encode("utf-8", "surrogateescape"))
        if not parts:
            return  # the root itself
        if parts[-1].startswith(_WHITEOUT):
            self._whiteout(parts)
        elif member.isdir():
            self._folder(parts, member)
        elif parts[0] == b"dev" or member.ischr() or member.isblk():
            self.counts["devices"] += 1
        else:
            self._other(archive, member, parts)

    def _other(self, archive: tarfile.TarFile, member: tarfile.TarInfo, parts: List[bytes]) -> None:
        folder, name = self.root.place_of(parts)
        try:
            if member.islnk():
                self._links.append((parts, parts_of(member.linkname.encode("utf-8", "surrogateescape")), member.name))
                return
            discard(name, folder)
            if member.issym():
                os.symlink(member.linkname.encode("utf-8", "surrogateescape"), name, dir_fd=folder)
                os.utime(name, (_time(member), _time(member)), dir_fd=folder, follow_symlinks=False)
            elif member.isfifo():
                os.mkfifo(name, 0o600, dir_fd=folder)
            elif member.isreg():
                self._file(archive, member, name, folder)
            else:
                raise BadLayer(f"{_shown(member.name)} is of a kind that is not known ({member.type!r})")
            self.counts["files"] += 1
        finally:
            os.close(folder)

    def _file(self, archive: tarfile.TarFile, member: tarfile.TarInfo, name: bytes, folder: int) -> None:
        if self.counts["bytes"] + member.size > self.most:  # a sparse file is short in the stream, and any length here
            raise BadLayer(f"it unpacks to more than {self.most} bytes")
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
        try:
            source = archive.extractfile(member)
            while source:
                data = source.read(PIECE)
                if not data:
                    break
                if member.issparse() and not any(data):
                    os.lseek(fd, len(data), os.SEEK_CUR)  # it stays a hole
                    self.counts["bytes"] += len(data)
                    continue
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                self.counts["bytes"] += len(data)
            if member.issparse():
                os.ftruncate(fd, member.size)
            # Owner's rights always: else the owner could neither read nor remove it. No setuid, setgid: they would be
            # ours.
            os.fchmod(fd, member.mode & 0o777 | 0o600)
            _keep_attributes(member, fd)
            os.utime(fd, (_time(member), _time(member)))
        finally:
            os.close(fd)

    def _folder(self, parts: List[bytes], member: tarfile.TarInfo) -> None:
        place, name = self.root.place_of(parts)
        try:
            kind = kind_of(name, place)
            if kind is not None and kind != stat.S_IFDIR:
                discard(name, place)
            if kind != stat.S_IFDIR:
                os.mkdir(name, 0o700, dir_fd=place)
            fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
            try:
                os.fchmod(fd, member.mode & 0o1777 | 0o700)
                _keep_attributes(member, fd)
                if kind == stat.S_IFCHR:  # hidden and made anew in one layer: nothing of before shows through
                    os.setxattr(fd, _OPAQUE_MARK, b"y")
            finally:
                os.close(fd)
        finally:
            os.close(place)
        self._folder_times[tuple(parts)] = _time(member)

    def _whiteout(self, parts: List[bytes]) -> None:
        if parts[-1] == _OPAQUE:
            fd = self.root.open_folder(parts[:-1], make=True)
            try:
                os.setxattr(fd, _OPAQUE_MARK, b"y")
            finally:
                os.close(fd)
            return
        hidden = parts[-1][len(_WHITEOUT) :]
        if hidden.startswith(_WHITEOUT) or not hidden:
            return  # aufs' own notes
        if hidden in (b".", b".."):
            raise LeavesRoot(hidden)
        folder, _ = self.root.place_of(parts)
        try:
            kind = kind_of(hidden, folder)
            if kind == stat.S_IFDIR:  # in this very layer, which a whiteout is not about: only what is below is hidden
                fd = os.open(hidden, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                os.setxattr(fd, _OPAQUE_MARK, b"y")
                os.close(fd)
            elif kind is None:
                # no right is needed for 0/0 since Linux 5.8
                os.mknod(hidden, stat.S_IFCHR | 0o600, os.makedev(0, 0), dir_fd=folder)
        finally:
            os.close(folder)

    def finish(self) -> None:
        """Hard links, once everything is there that they may mean; then the times of folders, which all of this has
        changed.
        """
        for parts, target, shown in self._links:
            from_folder, from_name = self._existing(target, shown)
            try:
                if kind_of(from_name, from_folder) not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO):
                    raise BadLayer(f"{_shown(shown)} is a hard link to what is not a file of its layer")
                folder, name = self.root.place_of(parts)
                try:
                    if (os.stat(from_folder).st_ino, from_name) == (os.stat(folder).st_ino, name):
                        continue  # to itself
                    discard(name, folder)
                    os.link(from_name, name, src_dir_fd=from_folder, dst_dir_fd=folder, follow_symlinks=False)
                    self.counts["files"] += 1
                finally:
                    os.close(folder)
            finally:
                os.close(from_folder)
        for place, at in sorted(self._folder_times.items(), key=lambda one: -len(one[0])):
            try:
                fd = self.root.open_folder(list(place), make=False)
            except (FileNotFoundError, NotADirectoryError):
                continue  # a later entry has taken its place
            try:
                os.utime(fd, (at, at))
            finally:
                os.close(fd)

    def _existing(self, target: List[bytes], shown: str) -> Tuple[int, bytes]:
        try:
            return self.root.place_of(target, make=False)
        except (FileNotFoundError, NotADirectoryError):
            raise BadLayer(f"{_shown(shown)} is a hard link to what is not in its layer") from None


def _keep_attributes(member: tarfile.TarInfo, fd: int) -> None:
    """Those that are the user's; not capabilities, nor what overlayfs would take for its own."""
    headers: Any = member.pax_headers
    for key, value in headers.items():
        name = key[len("SCHILY.xattr.") :] if key.startswith("SCHILY.xattr.") else ""
        if name.startswith("user.") and not name.startswith("user.overlay."):
            try:
                os.setxattr(fd, name, value.encode("utf-8", "surrogateescape"))
            except OSError as error:
                # E2BIG, ENOSPC, ERANGE, ENOTSUP: the file system keeps none, or not as many
                if error.errno not in (7, 28, 34, 95):
                    raise


def _time(member: tarfile.TarInfo) -> int:
    return int(min(max(float(member.mtime), 0), _LATEST))


def _shown(name: str) -> str:
    return repr(name[:200])
