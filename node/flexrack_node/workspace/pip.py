"""Runs `python -m venv` and pip, telling what they do, and names the requirement that failed."""

import os
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import DISK_FULL, need_room, unfit_disk, unpacked_size
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace.child import SignalsRaise, watch

SIZES = {"bytes": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3}


class PipBuilder:
    """Fills one folder. Its children end with it, and when the caller goes away or a signal comes."""

    def __init__(self, folder: Path, python: str, channel: Channel) -> None:
        self.folder, self.python, self.channel = folder, python, channel
        self.lines: List[str] = []
        self.total: Optional[int] = None
        self.wanted = 0  # packages to install, once pip has said so
        self.before = 0  # packages that were in before
        self.local: List[Path] = []  # wheels that pip takes from where they are
        self.quiet = True

    def run(
        self, requirements: str, constraints: str, with_pip: bool, project: Optional[Tuple[str, Path]] = None
    ) -> None:
        """Raises ENVIRONMENT_FAILED (details: requirement, line, lines), NODE_UNFIT, or CallerGone."""
        # Beside the environment, not in /tmp: that is often small, and kept in memory.
        with (
            tempfile.TemporaryDirectory(prefix=f".{self.folder.name}-", dir=self.folder.parent) as temp,
            SignalsRaise(),
        ):
            self.temp = Path(temp)
            self.channel.event("progress", detail="creating a virtual environment")
            python = str(self.folder / "bin" / "python")
            self.make(python, with_pip)
            if not with_pip:
                return
            self.quiet = False
            self.before = self._packages()
            (self.temp / "requirements.txt").write_text(requirements)
            (self.temp / "constraints.txt").write_text(constraints)
            install = [
                python,
                "-u",
                "-m",
                "pip",
                "install",
                "--disable-pip-version-check",
                "--no-input",
                "--no-color",
                "--progress-bar",
                "off",
                "--no-warn-script-location",
            ]
            if (
                self._watch(
                    [*install, "-r", str(self.temp / "requirements.txt"), "-c", str(self.temp / "constraints.txt")]
                )
                != 0
            ):
                raise self._unfit() or self._failure(requirements)
            if project and self._watch([*install, "--no-deps", "-e", str(project[1])]) != 0:
                raise self._unfit() or project_failure(project[0], self.lines)

    def make(self, python: str, with_pip: bool) -> None:
        """The folder; `python` will be its interpreter."""
        self._need([self.python, "-I", "-m", "venv", "--without-pip", str(self.folder)])
        if with_pip:
            # venv itself would hide why this fails
            self._need([python, "-I", "-m", "ensurepip", "--upgrade", "--default-pip"])

    def command(self, words: List[str]) -> List[str]:
        """What starts a program that fills the folder."""
        return words

    def _need(self, words: List[str]) -> None:
        if self._watch(words) != 0:
            raise self._unfit() or NodeError(
                "ENVIRONMENT_FAILED", f"python -m {words[3]} failed", None, lines=self.lines[-15:]
            )

    def _watch(self, words: List[str]) -> int:
        environment = {
            key: value
            for key, value in os.environ.items()
            if key
            not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV")
        }
        environment.update({"TMPDIR": str(self.temp), "PIP_USER": "0", "PYTHONUNBUFFERED": "1"})
        self.lines = []
        return watch(self.command(words), self.temp, environment, self._read, self._measure)

    def _read(self, line: str) -> None:
        """Keeps the line and tells what it means."""
        self.lines.append(redact(line))
        if self.quiet:
            return
        text = line.strip()
        detail = None
        download = re.match(r"Downloading (\S+)(?: \(([0-9.]+) (bytes|kB|MB|GB)\))?", text)
        if download:
            name = download.group(1).rsplit("/", 1)[-1]
            self.total = int(float(download.group(2)) * SIZES[download.group(3).lower()]) if download.group(2) else None
            detail = f"downloading {name}"
            need_room(self.temp, self.total or 0, name)
            if self.total is None:
                self.channel.event("progress", done=0, unit="bytes")
        elif text.startswith(("Collecting ", "Processing ")):
            self.total = None
            detail = "resolving " + text.split(" ")[1].rsplit("/", 1)[-1]
            if text.startswith("Processing "):
                self.local.append(self.temp / text.split(" ")[1])
        elif text.startswith("Using cached "):
            detail = "taking from the cache " + text.split(" ")[2]
        elif text.startswith("Building wheel"):
            detail = text[0].lower() + text[1:].split(" (")[0]
        elif text.startswith("Installing collected packages:"):
            self.wanted = text.count(",") + 1
            self.total = None
            need_room(
                self.folder, unpacked_size([*self.temp.glob("pip-unpack-*/*.whl"), *self.local]), "this environment"
            )
            detail = f"installing {self.wanted} package{'s' if self.wanted > 1 else ''}"
        elif text.startswith("WARNING: Retrying"):
            detail = "the package index does not answer, trying again"
        if detail:
            self.channel.event("progress", detail=redact(detail))

    def _measure(self) -> None:
        """Bytes of the running download (pip unpacks below TMPDIR), or the number of packages that are in."""
        if self.wanted:
            count = max(0, min(self._packages() - self.before, self.wanted))
            self.channel.event("progress", detail=f"installing packages: {count} of {self.wanted}")
        elif self.total:
            # Files that came before lie there, too: the one that grows now is the newest.
            files = [(info.st_mtime_ns, info.st_size) for info in map(_stat, self.temp.glob("pip-unpack-*/*")) if info]
            self.channel.event(
                "progress", done=min(max(files, default=(0, 0))[1], self.total), total=self.total, unit="bytes"
            )
        else:
            self.channel.event("alive")

    def _packages(self) -> int:
        return sum(1 for _ in self.folder.glob("lib/python*/site-packages/*.dist-info"))

    def _unfit(self) -> Optional[NodeError]:
        errno = next(
            (int(one) for line in self.lines for one in re.findall(r"\[Errno (\d+)\]", line) if int(one) in DISK_FULL),
            None,
        )
        return unfit_disk(OSError(errno, os.strerror(errno)), self.folder.parent) if errno else None

    def _failure(self, requirements: str) -> NodeError:
        requested = requirements.replace("\r\n", "\n").split("\n")
        number = failing_line(self.lines, requested)
        details: Dict[str, Any] = {"lines": [line for line in self.lines if line.strip()][-15:]}
        message = "pip could not install the requirements"
        if number:
            # of a lock file: hashes follow
            details.update(line=number, requirement=redact(requested[number - 1].strip().rstrip("\\ ")))
            message = f"pip could not install {details['requirement']} (line {number})"
        other = hash_mismatch(self.lines)
        if other:
            return NodeError(
                "ENVIRONMENT_FAILED",
                f"{other} has another content than its lock says: the package index, or somebody on the way, gave another file",
                "compare the index with the one that the lock was made from; nothing was installed",
                **{**details, "requirement": other},
            )
        if any(
            re.search(r"NewConnectionError|NameResolutionError|ConnectTimeout|MaxRetryError|ProxyError", line)
            for line in self.lines
        ):
            return NodeError(
                "ENVIRONMENT_FAILED",
                f"{message}: the package index cannot be reached from this node",
                "set PIP_INDEX_URL or ~/.config/pip/pip.conf on the node to an index that it reaches",
                **details,
                unreachable=True,
            )
        return NodeError("ENVIRONMENT_FAILED", message, None, **details)


def project_failure(name: str, output: List[str]) -> NodeError:
    return NodeError(
        "ENVIRONMENT_FAILED",
        f"{name}, the project itself, could not be installed by its build system",
        "pip install -e . shows the same; without [build-system] and [project.scripts] in its pyproject.toml it is not installed",
        lines=[line for line in output if line.strip()][-15:],
    )


def failing_line(output: List[str], requested: List[str]) -> Optional[int]:
    """Line (from 1) of the requirements that pip's output speaks of last, by number where it gives one, else by name."""
    errors = [line for line in output if re.match(r"\s*(ERROR|error)\b", line)]
    for line in errors:
        found = re.search(
            r"requirements\.txt \(line (\d+)\)|line (\d+) of .*requirements\.txt|requirements\.txt:(\d+)", line
        )
        if found:
            return int(next(one for one in found.groups() if one))
    for line in errors:
        found = re.search(r"(?:for|requirement|Package|package)s? '?([A-Za-z0-9][A-Za-z0-9._-]*)", line)
        number = line_of(found.group(1), requested) if found else None
        if number:
            return number
    for line in reversed(output):
        found = re.search(r"^(?:Collecting|Processing|Obtaining) .*requirements\.txt \(line (\d+)\)", line.strip())
        if found:
            return int(found.group(1))
    return None


def hash_mismatch(output: List[str]) -> Optional[str]:
    """The requirement whose file has none of the hashes that stand with it; pip names it above `Expected sha256` and
    `Got`.
    """
    for before, line in zip(output, output[1:]):
        named = re.match(r"\s+([A-Za-z0-9][^\s]*) from ", before)
        if named and re.match(r"\s+Expected sha\d+ ", line):
            return redact(named.group(1))
    return None


def redact(line: str) -> str:
    """Without the user and password of URLs."""
    return re.sub(r"(://)[^/\s@]+@", r"\1[redacted]@", line)


def line_of(name: str, requested: List[str]) -> Optional[int]:
    def plain(text: str) -> str:
        return re.sub(r"[-_.]+", "-", text).lower()

    for number, line in enumerate(requested, 1):
        found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", line)
        if found and plain(found.group(1)) == plain(name):
            return number
    return None


def _stat(file: Path) -> Optional[os.stat_result]:
    try:
        return file.stat()
    except OSError:
        return None
