"""Lines of ~/.ssh/authorized_keys that let somebody into one folder: sshd(8), AUTHORIZED_KEYS FILE FORMAT. Other lines
are left as they are, byte by byte.
"""

import fcntl
import os
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator, List

from flexrack_node.base.stored import replace_file

MARK = "flexrack-share-"


def put(share: str, command: List[str], key: str) -> bool:
    """`key`: type and base64. False if the line is there already. Raises OSError."""
    text = " ".join(shlex.quote(word) for word in command).replace("\\", "\\\\").replace('"', '\\"')
    return _change(share, f'restrict,command="{text}" {key} {MARK}{share}\n')


def remove(share: str) -> bool:
    """False if there was none."""
    return _change(share, "")


def has(share: str) -> bool:
    try:
        return any(_is_of(line, share) for line in _path().read_text(errors="surrogateescape").splitlines())
    except FileNotFoundError:
        return False


def _path() -> Path:
    return Path(os.path.expanduser("~")) / ".ssh" / "authorized_keys"


def _is_of(line: str, share: str) -> bool:
    return line.rstrip().endswith(f" {MARK}{share}")


def _change(share: str, line: str) -> bool:
    path = _path()
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with _locked(path.parent):
        path = path.resolve()  # it may be a link into a folder of dotfiles: that file is the one
        try:
            before = path.read_bytes().decode(errors="surrogateescape")
            mode = path.stat().st_mode & 0o777
        except FileNotFoundError:
            before, mode = "", 0o600
        kept = [one for one in before.splitlines(keepends=True) if not _is_of(one, share)]
        if line and kept and not kept[-1].endswith("\n"):
            kept[-1] += "\n"
        after = "".join([*kept, line])
        if after == before:
            return False
        replace_file(path, after.encode(errors="surrogateescape"), mode)
        return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Among our own processes; editors know nothing of it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
