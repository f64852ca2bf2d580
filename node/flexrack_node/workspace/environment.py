"""Python environments on this node: built once per content, shared by every project and by all machines that share the
folder, never half there.

A virtual environment cannot be built in one place and moved to another, as its scripts carry absolute paths. So it is
built where it will stay, and READY, written last, is what publishes it: a folder without READY is the remains of a
build that did not end, and the next build removes it. Only the holder of the lock builds or removes.

    <environments>/<hash>/          bin/python, READY (what it was made from), USERS/ (one file a workspace using it)
    <environments>/.locks/<hash>    locked by the builder; holds who that is
"""

import hashlib
import json
import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from flexrack_node.base import home
from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.installed import record
from flexrack_node.base.shared_lock import look_anew
from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.workspace.build import READY, build, discard, significant_lines
from flexrack_node.workspace.folder import WorkspaceFolder, measure, processes_from, project_folder

if TYPE_CHECKING:
    from flexrack_node.schema.environment import (
        EnvironmentContent,
        EnvironmentEntry,
        EnvironmentKept,
        EnvironmentMade,
        EnvironmentNote,
        EnvironmentPlanned,
        EnvironmentsGone,
        EnvironmentsReleased,
        EnvironmentsUnwanted,
        EnvironmentUse,
        EnvironmentWanted,
        ProjectToInstall,
        ResolveWanted,
        ToolMissing,
    )
    from flexrack_node.schema.image import ImagePython, ImagePythonQuestion

USERS = ".flexrack-users"


def ensure(request: "EnvironmentWanted", channel: Channel) -> "Union[EnvironmentMade, ToolMissing]":
    """{requirements, constraints?, python?, user?, owner?, asker?, uv?} -> {hash, path, built, python}, or {missing,
    machine}: uv is to be sent first.

    `user` is what uses it from now on, and keeps it from being removed: `workspace:digits`, `head`, `endpoint:digits`.
    `owner` and `asker` are told to who waits for this build: who asked for it, and which command of theirs on which
    node.
    """
    from flexrack_node.workspace import pythons  # what only lists environments does without

    download(request)
    image = request.get("image")
    facts = pythons.find(request.get("python"), channel, image)
    requirements = request.get("requirements") or ""
    constraints = request.get("constraints") or ""
    project = request.get("project")
    name = content_hash(requirements, constraints, facts, project_parts(project, channel))
    folder = channel.environments / name
    answer: EnvironmentMade = {
        "hash": name,
        "path": str(folder),
        "built": False,
        "python": or_nothing(read("environment.ready", folder / READY)).get("python") or ""
        if image
        else facts["version"],
    }
    user = request.get("user")
    if is_ready(folder) and not (user and not is_user(folder, channel.root, user)):
        return answer
    make_folder(channel, folder.parent)
    order = None if image else request.get("uv")
    from flexrack_node.base import program_wheel  # only where something is built or removed (workspace/build.py)
    from flexrack_node.workspace import uv

    machine = program_wheel.machine()
    if (
        order
        and not is_ready(folder)
        and "without" not in order
        and (project or uv.is_needed(requirements, facts))
        and machine
        and not uv.find(order, channel, facts)
    ):
        return {"missing": "uv", "machine": machine}
    with FileLock(
        folder.parent / ".locks" / name,
        channel,
        f"build of environment {name}",
        owner=request.get("owner"),
        asker=request.get("asker"),
    ):
        look_anew(channel.environments, folder, folder / USERS)
        if not is_ready(folder):  # whoever held the lock before may have built it
            discard_half_built(channel)
            record(channel.root, folder, "environment")
            limits = constraints + (request.get("pins") or "")
            answer["python"] = (
                built_in(image, folder, requirements, limits, request, channel)
                if image
                else build(folder, requirements, limits, facts, channel, order, project)["version"]
            )
            answer["built"] = True
        if user:  # with the lock held: else it could be removed as unused at this very moment
            note_user(folder, channel.root, user, answer)
    return answer


def built_in(
    image: str, folder: Path, requirements: str, constraints: str, request: "EnvironmentWanted", channel: Channel
) -> str:
    from flexrack_node.workspace import in_image  # only where one is built

    return in_image.build(
        folder, requirements, constraints, image, request.get("python"), channel, request.get("project")
    )


def python_of_image(given: "ImagePythonQuestion", channel: Channel) -> "ImagePython":
    """{image, python}: the version of the image's Python, by running it. Errors: NOT_FOUND where the image is not here."""
    from flexrack_node.workspace import in_image

    make_folder(channel, channel.environments)
    return {"python": in_image.version_of(given["image"], given["python"], channel)}


def plan(request: "EnvironmentContent", channel: Channel) -> "EnvironmentPlanned":
    """The same input as `ensure`; says what it would do: {hash, path, ready, python, by}. Changes nothing."""
    from flexrack_node.workspace import pythons

    image = request.get("image")
    facts = pythons.find(request.get("python"), channel, image)
    name = content_hash(
        request.get("requirements") or "",
        request.get("constraints") or "",
        facts,
        project_parts(request.get("project"), channel),
    )
    folder = channel.environments / name
    ready = is_ready(folder)
    planned: EnvironmentPlanned = {
        "hash": name,
        "path": str(folder),
        "ready": ready,
        "python": facts["version"],
        "by": "image" if image else "node" if "managed" not in facts else "uv" if "absent" in facts else "flexrack",
    }
    if ready:
        planned["versions"] = hashlib.sha256(installed(folder).encode()).hexdigest()[:16]
    return planned


def listing(request: "None", channel: Channel) -> "List[EnvironmentEntry]":
    """Every environment here: {hash, path, ready, bytes?, built_at, python, requirements, users}."""
    found: List[EnvironmentEntry] = []
    for folder in sorted(channel.environments.glob("[0-9a-f]*")):
        if not re.fullmatch(r"[0-9a-f]{16}", folder.name) or not folder.is_dir():
            continue
        record = or_nothing(read("environment.ready", folder / READY))
        found.append(
            {
                "hash": folder.name,
                "path": str(folder),
                "ready": is_ready(folder),
                "python": record.get("python"),
                "built_at": record.get("built_at"),
                "requirements": record.get("requirements", []),
                "users": users_of(folder),
            }
        )
    return found


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


def remove(request: "EnvironmentsUnwanted", channel: Channel) -> "EnvironmentsGone":
    """{hashes?, ignoring?, dry_run?} -> {removed: [hash], bytes, kept: [{hash, users, pids}]}. Removes what nothing
    uses or runs from.

    `ignoring` lists users ({user, root}) that do not count; with `hashes` only those are looked at. What runs is seen
    on this machine alone: what runs elsewhere is a user there until it has ended (note_user).
    """
    removed: List[str] = []
    kept: List[EnvironmentKept] = []
    freed = 0
    wanted, ignored = request.get("hashes"), [(one["user"], one["root"]) for one in request.get("ignoring", [])]
    for one in listing(None, channel):
        if wanted is not None and one["hash"] not in wanted:
            continue
        folder = Path(one["path"])
        with FileLock(channel.environments / ".locks" / one["hash"], channel, f"removal of environment {one['hash']}"):
            look_anew(channel.environments, folder, folder / USERS)
            if not folder.exists():  # another node that shares it was quicker
                continue
            users = [
                user
                for user in users_of(folder)
                if (user["user"], user["root"]) not in ignored and is_counted(folder, channel.root, user)
            ]
            pids = processes_from(one["path"])
            if users or pids:
                kept.append({"hash": one["hash"], "users": users, "pids": pids})
                continue
            freed += measure(folder)[1]
            removed.append(one["hash"])
            if not request.get("dry_run"):
                discard(folder)
    if not request.get("dry_run"):
        from flexrack_node.workspace import pythons, uv

        uv.shrink(channel)  # an environment's files are the cache's, too
        pythons.remove_unused(channel)
    return {"removed": removed, "bytes": freed, "kept": kept}


def download(request: "Union[EnvironmentWanted, ResolveWanted]") -> None:
    """As the caller says, from here on: this process is one call, and whatever fetches something is its child."""
    way = request.get("download")
    if way:
        from flexrack_node.workspace import certificates, pip_settings

        os.environ.update(certificates.trusted(way, os.environ))
        for key, value in pip_settings.through_caller(way, os.environ).items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
        if way.get("mirrored"):
            os.environ["FLEXRACK_MIRRORED"] = "1"


def project_parts(project: "Optional[ProjectToInstall]", channel: Channel) -> List[str]:
    """What an environment depends on, in which a project is installed from its code folder here."""
    return [str(project_folder(project, channel.root)), project["digest"]] if project else []


def content_hash(requirements: str, constraints: str, facts: Dict[str, Any], project: List[str] = []) -> str:  # noqa: B006 (read only)
    """16 hex digits that change exactly when another environment would come out. Micro versions of Python share one."""
    major_minor = ".".join(facts["version"].split(".")[:2])
    # wherever flexrack's own lies, it is the same
    executable = f"flexrack {facts['managed']}" if facts.get("managed") else facts["executable"]
    parts = [
        1,
        significant_lines(requirements),
        significant_lines(constraints),
        major_minor,
        facts["tag"],
        facts["platform"],
        facts["libc"],
        executable,
        *project,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def installed(folder: Path) -> str:
    """The versions in it, by the names of the folders in which installers keep what they have installed."""
    found = (
        re.fullmatch(r"(.+)-([^-]+)\.dist-info", path.name)
        for path in sorted(folder.glob("lib/python*/site-packages/*.dist-info"))
    )
    return "".join(
        f"{one.group(1).replace('_', '-')}=={one.group(2)}\n"
        for one in found
        if one and one.group(1) not in ("pip", "setuptools")
    )


def is_ready(folder: Path) -> bool:
    """Published, and its interpreter (a link to the node's) is still there; that of an image is looked for in the image
    alone.
    """
    if not (folder / READY).is_file():
        return False
    return os.access(folder / "bin" / "python", os.X_OK) or bool(
        or_nothing(read("environment.ready", folder / READY)).get("image")
    )


def discard_half_built(channel: Channel) -> None:
    """What builders that were killed have left, of whichever environment: nobody may ever ask for that one again."""
    places = {
        path.name
        for path in channel.environments.glob("[0-9a-f]*")
        if re.fullmatch(r"[0-9a-f]{16}", path.name) and not is_ready(path)
    }
    places |= {
        path.name[1:17] for path in channel.environments.glob(".*-*") if re.fullmatch(r"\.[0-9a-f]{16}-.*", path.name)
    }
    for name in sorted(places):
        try:
            with FileLock(
                channel.environments / ".locks" / name,
                channel,
                f"removal of what is left of environment {name}",
                wait=False,
            ):
                if not is_ready(channel.environments / name):
                    discard(channel.environments / name)
        except (NodeError, OSError):
            continue  # it is being built, by us or by somebody else; or it belongs to somebody else


def make_folder(channel: Channel, folder: Path) -> None:
    if (folder / ".locks").is_dir():
        return
    try:
        record(channel.root, folder / ".locks", "environment locks")
        (folder / ".locks").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unfit_disk(error, folder) or NodeError("NODE_UNFIT", f"cannot make {folder}: {error.strerror}") from error


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
