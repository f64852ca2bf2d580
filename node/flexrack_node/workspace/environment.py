"""Python environments on this node: built once per content, shared by every project and by all machines that share the
folder, never half there.

A virtual environment cannot be built in one place and moved to another, as its scripts carry absolute paths. So it is
built where it will stay, and READY, written last, is what publishes it: a folder without READY is the remains of a
build that did not end, and the next build removes it. Only the holder of the lock builds or removes.

    <environments>/<hash>/          bin/python, READY (what it was made from), USERS/ (one file a workspace using it)
    <environments>/.locks/<hash>    locked by the builder; holds who that is
"""

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, List, Union

from flexrack_node.base.channel import Channel
from flexrack_node.base.disk_room import unfit_disk
from flexrack_node.base.errors import NodeError
from flexrack_node.base.filelock import FileLock
from flexrack_node.base.installed import record
from flexrack_node.base.shared_lock import look_anew
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.workspace.build import READY, build, discard
from flexrack_node.workspace.environment_content import content_hash, installed, project_parts
from flexrack_node.workspace.environment_users import USERS, is_counted, is_user, note_user, users_of
from flexrack_node.workspace.folder import measure, processes_from

if TYPE_CHECKING:
    from flexrack_node.schema.environment import (
        EnvironmentContent,
        EnvironmentEntry,
        EnvironmentKept,
        EnvironmentMade,
        EnvironmentPlanned,
        EnvironmentsGone,
        EnvironmentsUnwanted,
        EnvironmentWanted,
        ResolveWanted,
        ToolMissing,
    )
    from flexrack_node.schema.image import ImagePython, ImagePythonQuestion


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
