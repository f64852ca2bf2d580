"""The bytes of a layer on their way in: unpacked, counted and hashed, never more of them than was agreed."""

import gzip
import hashlib
import tarfile
import zlib
from typing import Any, BinaryIO, Optional

LONGEST_HEADER = 1 << 20  # bytes of one extended header of pax or GNU, which tarfile reads whole
PIECE = 1 << 20


class BadLayer(ValueError):
    """The archive is damaged, hostile, or not one."""


class Header(tarfile.TarInfo):
    """One that takes no extended header of any size: tarfile would keep all of it in memory."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:
        if (
            self.type
            in (
                tarfile.XHDTYPE,
                tarfile.XGLTYPE,
                tarfile.SOLARIS_XHDTYPE,
                tarfile.GNUTYPE_LONGNAME,
                tarfile.GNUTYPE_LONGLINK,
            )
            and not 0 <= self.size <= LONGEST_HEADER
        ):
            raise BadLayer(f"an extended header of {self.size} bytes")
        return super()._proc_member(archive)  # type: ignore[misc]  # tarfile's own hook, the same from 3.2 to 3.14


class LayerStream:
    """The tar of a layer as a file to read, with its digest (`diff_id`) once it is read to its end."""

    def __init__(self, body: BinaryIO, encoding: str, most: int) -> None:
        self._source: Any = gzip.GzipFile(fileobj=body, mode="rb") if encoding == "gzip" else body
        self._digest, self.most = hashlib.sha256(), most
        self.count = 0

    def read(self, size: int = PIECE) -> bytes:
        try:
            data: Optional[bytes] = self._source.read(size)
        except (EOFError, OSError, zlib.error) as error:
            raise BadLayer(f"its compression is damaged: {error}") from None
        self.count += len(data or b"")
        if self.count > self.most:
            raise BadLayer(f"it unpacks to more than {self.most} bytes")
        self._digest.update(data or b"")
        return data or b""

    def finish(self) -> str:
        """Reads on to the end. -> `sha256:<hex>`"""
        while self.read():
            pass
        return f"sha256:{self._digest.hexdigest()}"
