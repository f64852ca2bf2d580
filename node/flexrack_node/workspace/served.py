"""The code of a model server of the project's own: endpoint.code.

endpoints/<name>/<release>/code/...   the workspace as it was when the release was deployed
"""

from pathlib import Path
from typing import TYPE_CHECKING

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.installed import record
from flexrack_node.service.endpoint import name_of, release_folder
from flexrack_node.workspace.environment import is_ready
from flexrack_node.workspace.environment_users import note_user
from flexrack_node.workspace.folder import WorkspaceFolder
from flexrack_node.workspace.frozen import View, editable_paths
from flexrack_node.workspace.index import load_index

if TYPE_CHECKING:
    from flexrack_node.schema.endpoint import CodeKept, ReleaseCode


def code(given: "ReleaseCode", channel: Channel) -> "CodeKept":
    """{name, release, workspace, environment?} -> {folder, imports}: a view of the workspace, as a run has one, so that
    a later sync changes neither this release nor a rollback to it. Errors: NOT_FOUND without code or environment,
    LOCKED.
    """
    place = WorkspaceFolder(channel.root, given["workspace"])
    if not place.code.is_dir():
        raise NodeError("NOT_FOUND", f"the workspace {place.project} has no code on this node", "flexrack workspace up")
    release = release_folder(channel.root, given)
    record(channel.root, release.parent, "endpoint")
    release.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = release / "code"
    with FileLock(place.lock, channel, f"workspace {place.project}"):
        View(place.code, target, load_index(place)).make()
    environment = given.get("environment")
    if environment is None:
        return {"folder": str(target), "imports": []}
    keep(Path(environment), name_of(given["name"]), channel)
    return {
        "folder": str(target),
        "imports": editable_paths(Path(environment) / "bin" / "python", place.code, target),
    }


def keep(folder: Path, endpoint: str, channel: Channel) -> None:
    """The endpoint uses this environment until it is removed: nothing else takes it away meanwhile."""
    with FileLock(channel.environments / ".locks" / folder.name, channel, f"environment {folder.name}"):
        if folder.parent != channel.environments or not is_ready(folder):
            raise NodeError("NOT_FOUND", f"there is no environment {folder.name}", "flexrack workspace up")
        answer = {"hash": folder.name, "path": str(folder), "built": False, "python": ""}
        note_user(folder, channel.root, f"endpoint:{endpoint}", answer)  # type: ignore[arg-type]
