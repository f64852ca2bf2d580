"""Runs `uv venv` and `uv pip install`, telling what they do (workspace/uv_failures.py: why they fail)."""

import os
import re
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import need_room, unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.workspace import mirror, pip_settings, uv
from flexrack_node.workspace.child import SignalsRaise, watch
from flexrack_node.workspace.pip import project_failure, redact
from flexrack_node.workspace.uv_failures import no_python, no_requirements

SIZES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
MIRRORED_SECONDS = "3600"  # a file is whole here before the first byte comes; who waits for whom is looked at elsewhere
NOT_OURS = (
    "UV_CONSTRAINT",
    "PYTHONPATH",
    "PYTHONHOME",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_PYTHON",
    "UV_TARGET",
    "UV_PROJECT",
    "UV_PROJECT_ENVIRONMENT",
    "UV_WORKING_DIR",
    "UV_ENV_FILE",
    "UV_PYTHON_INSTALL_DIR",
    "UV_PYTHON_DOWNLOADS",
    "UV_MANAGED_PYTHON",
    "UV_NO_MANAGED_PYTHON",
    "UV_PYTHON_PREFERENCE",
)


class UvBuilder:
    """Fills one folder. Its children end with it, and when the caller goes away or a signal comes."""

    def __init__(self, program: Path, folder: Path, python: str, channel: Channel) -> None:
        self.program, self.folder, self.python, self.channel = program, folder, python, channel
        self.lines: List[str] = []
        self.sizes: Dict[str, int] = {}  # of the downloads that were begun
        self.done = 0
        self.wanted = 0

    def resolve(self, requirements: str, constraints: str, words: List[str]) -> str:
        """What would be installed, as a requirements file. Errors: those of `run`."""
        (uv.make_folder(self.channel) / "cache").mkdir(mode=0o700, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=f".{self.folder.name}-", dir=self.folder.parent) as temp,
            SignalsRaise(),
        ):
            self._begin(Path(temp), requirements, constraints)
            self.channel.event("progress", detail="choosing versions")
            args = [word for word in self.settings.args if word not in ("--require-hashes",)]
            if (
                self._watch(
                    [
                        "pip",
                        "compile",
                        "--quiet",
                        "--python",
                        self.python,
                        "--no-python-downloads",
                        "--no-annotate",
                        "--no-header",
                        "--no-strip-extras",
                        *args,
                        *words,
                        *self._limits(constraints),
                        "--output-file",
                        "pins.txt",
                        "requirements.txt",
                    ]
                )
                != 0
            ):
                raise self._unfit() or no_requirements(requirements, self.text, self.lines)
            return (self.temp / "pins.txt").read_text()

    def install_python(self, version: str) -> None:
        """Into flexrack's own folder; uv knows the hash of its archive. Errors: those of `run`."""
        (uv.make_folder(self.channel) / "pythons").mkdir(mode=0o700, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=f".{self.folder.name}-", dir=self.folder.parent) as temp,
            SignalsRaise(),
        ):
            self._begin(Path(temp), "", "")
            self.channel.event("progress", detail=f"installing Python {version}")
            if (
                self._watch(
                    [
                        "python",
                        "install",
                        version,
                        "--install-dir",
                        str(uv.folder_of(self.channel) / "pythons"),
                        "--no-bin",
                    ]
                )
                != 0
            ):
                raise self._unfit() or no_python(version, self.lines)

    def _begin(self, temp: Path, requirements: str, constraints: str) -> None:
        self.temp = temp
        self.settings = pip_settings.translate(pip_settings.read(os.environ), os.environ, requirements)
        self.is_mirrored = "FLEXRACK_MIRRORED" in os.environ
        self.text = mirror.in_requirements(requirements) if self.is_mirrored else requirements
        (temp / "requirements.txt").write_text(self.text)
        (temp / "constraints.txt").write_text(constraints)

    def _limits(self, constraints: str) -> List[str]:
        files = [*self.settings.constraints, *(["constraints.txt"] if constraints.strip() else [])]
        return [word for file in files for word in ("-c", file)]

    def run(self, requirements: str, constraints: str, project: Optional[Tuple[str, Path]] = None) -> None:
        """Raises ENVIRONMENT_FAILED (details: requirement, line, lines), NODE_UNFIT, or CallerGone."""
        cache = uv.make_folder(self.channel) / "cache"
        cache.mkdir(mode=0o700, exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix=f".{self.folder.name}-", dir=self.folder.parent) as temp,
            SignalsRaise(),
        ):
            self._begin(Path(temp), requirements, constraints)
            self.channel.event("progress", detail="creating a virtual environment")
            if (
                self._watch(
                    [
                        "venv",
                        "--python",
                        self.python,
                        "--no-project",
                        "--no-python-downloads",
                        "--prompt",
                        self.folder.name,
                        str(self.folder),
                    ]
                )
                != 0
            ):
                raise self._unfit() or NodeError(
                    "ENVIRONMENT_FAILED", "uv could not make a virtual environment", None, lines=self.lines[-15:]
                )
            if not requirements.strip() and not project:
                return
            for sentence in self.settings.told:
                self.channel.event("warning", text=sentence)
            install = ["pip", "install", "--python", str(self.folder / "bin" / "python"), "--no-python-downloads"]
            words = [*install, *self.settings.args, "-r", "requirements.txt"]
            limits = self._limits(constraints)
            if is_locked(requirements):
                # As with pip: hashes of all or of none. With hashes uv wants pins of constraints, too, so these are
                # held against what was installed.
                steps = [
                    [*words, "--require-hashes"],
                    [*words, "--dry-run", "--no-deps", "--no-verify-hashes", *limits] if limits else [],
                ]
            else:
                steps = [[*words, *limits]]
            for step in steps if requirements.strip() else []:
                if step and self._watch(step) != 0:
                    raise self._unfit() or no_requirements(requirements, self.text, self.lines)
            if project:
                name, code = project
                self.channel.event("progress", detail=f"installing {name} itself, editable")
                # What uv has kept of it may be of other packages, or of another project at this place.
                args = [word for word in self.settings.args if word != "--require-hashes"]
                if self._watch([*install, *args, "--no-deps", "--refresh-package", name, "-e", str(code)]) != 0:
                    raise self._unfit() or project_failure(name, self.lines)

    def _watch(self, words: List[str]) -> int:
        environment = {key: value for key, value in os.environ.items() if key not in NOT_OURS}
        environment.update(self.settings.env)
        environment.setdefault("UV_CACHE_DIR", str(uv.folder_of(self.channel) / "cache"))
        environment.update(
            {
                "TMPDIR": str(self.temp),
                "UV_NO_PROGRESS": "1",
                "NO_COLOR": "1",
                "PYTHONUNBUFFERED": "1",
                **self._config(),
            }
        )
        if self.is_mirrored:
            environment.update(
                mirror.in_environment(environment, "UV_CONFIG_FILE" in environment, "--no-index" in self.settings.args)
            )
            environment.update(mirror.for_pythons(environment, "UV_CONFIG_FILE" in environment))
            environment["UV_HTTP_TIMEOUT"] = MIRRORED_SECONDS
        self.lines = []
        return watch([str(self.program), *words], self.temp, environment, self._read, self._tick)

    def _config(self) -> Dict[str, str]:
        """uv's settings of this account or machine, and none of a project that the folder happens to lie in."""
        if "UV_CONFIG_FILE" in os.environ or "UV_NO_CONFIG" in os.environ:
            return {}
        places = [
            Path(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")) / "uv" / "uv.toml",
            Path("/etc/uv/uv.toml"),
        ]
        found = next((place for place in places if place.is_file()), None)
        return {"UV_CONFIG_FILE": str(found)} if found else {"UV_NO_CONFIG": "1"}

    def _read(self, line: str) -> None:
        """Keeps the line and tells what it means."""
        self.lines.append(redact(mirror.plain(line)))
        text = line.strip()
        download = re.match(r"Downloading (\S+)(?: \(download\))? \(([0-9.]+)(B|KiB|MiB|GiB)\)", text)
        if download:
            size = int(float(download.group(2)) * SIZES[download.group(3)])
            self.sizes[download.group(1)] = size
            need_room(self.folder.parent, size, download.group(1))
            self._amount()
        elif re.match(r"Downloaded \S+( \(download\))?$", text):
            self.done += self.sizes.get(text.split()[1], 0)
            self._amount()
        elif text.startswith("Building "):
            self.channel.event("progress", detail=redact(f"building {text[9:]}"))
        elif re.match(r"Resolved (\d+) package", text):
            self.wanted = int(text.split()[1])
            self.channel.event(
                "progress",
                detail=f"{self.wanted} package{'s' if self.wanted > 1 else ''}, fetching what the cache lacks",
            )
        elif text.startswith("Prepared "):
            self.channel.event("progress", detail=f"installing {self.wanted} package{'s' if self.wanted > 1 else ''}")
        elif text.startswith("warning: Failed to hardlink") or "falling back to full copy" in text.lower():
            self.channel.event(
                "warning",
                text="uv's cache lies on another file system than the environments: files are copied, which takes longer and more room",
            )

    def _amount(self) -> None:
        names = list(self.sizes)
        self.channel.event("progress", detail=f"downloading {', '.join(names[-3:])}")
        self.channel.event("progress", done=self.done, total=sum(self.sizes.values()), unit="bytes")

    def _tick(self) -> None:
        self.channel.event("alive")

    def _unfit(self) -> Optional[NodeError]:
        found = next(
            (
                int(one)
                for line in self.lines
                for one in re.findall(r"\(os error (28|122)\)|\[Errno (?:28|122)\]", line)
                if one
            ),
            None,
        )
        if found is None and not any("No space left on device" in line for line in self.lines):
            return None
        return unfit_disk(OSError(found or 28, os.strerror(found or 28)), self.folder.parent)


def is_locked(requirements: str) -> bool:
    return re.search(r"(?:^|\s)--hash[=\s]", requirements) is not None
