"""Where a workspace is on this node, and what is remembered about it.

<root>/workspaces/<project>/code/             the project's files, and what was made there since
                           /index.json        what sync has put there, and
                           /index.log         how that changed since (workspace/index.py)
                           /sync.json         who synced it last, from where, when
                           /environment.json  the environment it uses
                           /image.json        the image that its programs run in
                           /staging/          files that have come and are not yet in place, named by content
                           /ssh/              its host key, and what connections need (workspace/ssh_host.py)
                           /lock              held while something of this is changed
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record

if TYPE_CHECKING:
    from flexrack_node.schema.environment import ProjectToInstall


class WorkspaceFolder:
    """Paths only; makes nothing by itself."""

    def __init__(self, root: Path, project: Any) -> None:
        if not isinstance(project, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", project):
            raise NodeError("BUG", f"not a project's name: {project!r}")
        self.project = project
        self.path = root / "workspaces" / project
        self.code = self.path / "code"
        self.index = self.path / "index.json"
        self.log = self.path / "index.log"
        self.sync = self.path / "sync.json"
        self.environment = self.path / "environment.json"
        self.image = self.path / "image.json"
        self.staging = self.path / "staging"
        self.ssh = self.path / "ssh"
        self.lock = self.path / "lock"

    def make(self, root: Path) -> None:
        """Makes the folders; the first time, puts them on the list of what is ours on this node."""
        if not self.path.exists():
            record(root, self.path, "workspace")
        for folder in (self.path.parent, self.path, self.code, self.staging):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.is_symlink() and folder != self.path.parent:
                raise NodeError("CONFLICT", f"{folder} is a link; flexrack does not write through it", f"rm {folder}")


def project_folder(project: "ProjectToInstall", root: Path) -> Path:
    code = WorkspaceFolder(root, project["workspace"]).code
    folder = Path(os.path.normpath(code / project["folder"]))
    if code not in (folder, *folder.parents):
        raise NodeError("BUG", f"not a folder of the project: {project['folder']}")
    return folder


def measure(folder: Path) -> Tuple[int, int]:
    """Number of files and their bytes, links not followed."""
    count = size = 0
    for path, _folders, files in os.walk(folder):
        for name in files:
            try:
                size += os.lstat(os.path.join(path, name)).st_size
                count += 1
            except OSError:
                pass
    return count, size


def processes() -> Iterator[int]:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            yield int(name)


def processes_from(path: str) -> List[int]:
    """Processes that run from it: its python is a link, so the command line is what tells."""
    start = f"{path}/".encode()
    found = []
    for pid in processes():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as stream:
                if any(word.startswith(start) for word in stream.read(8192).split(b"\0")[:2]):
                    found.append(pid)
        except OSError:
            pass
    return found
