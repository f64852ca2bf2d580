"""What uses an environment, and so keeps it from being removed: a file for each user in the environment itself, and of a
workspace the note of its one environment.
"""

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base import home
from flexrack_node.base.channel import Channel
from flexrack_node.base.shared_lock import look_anew
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.workspace.folder import WorkspaceFolder, processes_from

if TYPE_CHECKING:
    from flexrack_node.schema.environment import EnvironmentMade, EnvironmentNote, EnvironmentsReleased, EnvironmentUse

USERS = ".flexrack-users"


def release(request: "EnvironmentUse", channel: Channel) -> "EnvironmentsReleased":
    """{user}: it uses no environment any more. -> {released: [hash]}"""
    released = []
    for folder in channel.environments.glob("[0-9a-f]*"):
        file = folder / USERS / user_file(str(channel.root), request["user"])
        if file.exists():
            file.unlink()
            released.append(folder.name)
    return {"released": sorted(released)}


def leave(channel: Channel) -> None:
    """Nothing of this node uses an environment any more."""
    for folder in channel.environments.glob("[0-9a-f]*"):
        for user in users_of(folder):
            if user["root"] == str(channel.root):
                (folder / USERS / user_file(user["root"], user["user"])).unlink(missing_ok=True)


def is_user(folder: Path, root: Path, user: str) -> bool:
    """Whether both sides of `note_user` are there."""
    if not (folder / USERS / user_file(str(root), user)).exists():
        return False
    place = WorkspaceFolder(root, user.partition(":")[2]) if user.startswith("workspace:") else None
    return place is None or or_nothing(read("workspace.environment", place.environment)).get("hash") == folder.name


def note_user(folder: Path, root: Path, user: str, answer: "EnvironmentMade") -> None:
    """The environment knows what uses it; a workspace also knows its one environment. Of its old one it stays a user
    while anything runs from that.
    """
    if user.startswith("workspace:"):
        place = WorkspaceFolder(root, user.partition(":")[2])
        place.make(root)
        before = or_nothing(read("workspace.environment", place.environment))
        if before.get("path") not in (None, str(folder)) and not processes_from(before["path"]):
            (Path(before["path"]) / USERS / user_file(str(root), user)).unlink(missing_ok=True)
        if before.get("hash") != folder.name:
            write(
                "workspace.environment",
                place.environment,
                {"hash": answer["hash"], "path": answer["path"], "python": answer["python"]},
            )
    file = folder / USERS / user_file(str(root), user)
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        write(
            "environment.user",
            file,
            {"user": user, "root": str(root), "node": os.environ.get("FLEXRACK_NODE"), "since": int(time.time())},
        )


def is_counted(folder: Path, root: Path, user: "EnvironmentNote") -> bool:
    """Whether a user keeps an environment. Of this node those that have gone on to another one do not: what runs is
    seen here. Of others all, unless the node has left the root that we share.
    """
    if user["root"] == str(root):
        return is_user(folder, root, user["user"])
    place = Path(user["root"])
    if home.shared_root(root) not in (place, *place.parents):
        return True
    look_anew(place)
    return (place / home.CLAIM).exists()


def users_of(folder: Path) -> "List[EnvironmentNote]":
    """[{user, root, node, since}]"""
    users: List[Any] = [read("environment.user", file) for file in sorted((folder / USERS).glob("*.json"))]
    return [one for one in users if one]


def user_file(root: str, user: str) -> str:
    return hashlib.sha256(f"{root}\0{user}".encode()).hexdigest()[:16] + ".json"
