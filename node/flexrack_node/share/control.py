"""share.add, .list, .reply and .remove, and the keeper: the process that ends what is over while its owner is away, and
lets in who has accepted.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, List, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record as record_installed
from flexrack_node.base.stored import replace_file
from flexrack_node.image import bubblewrap
from flexrack_node.service import control as services
from flexrack_node.share import invitations, keys, rights, telling

if TYPE_CHECKING:
    from flexrack_node.schema.share import (
        ShareEnd,
        ShareEnded,
        ShareMade,
        ShareOrder,
        ShareRecord,
        ShareReplied,
        ShareReply,
        Shares,
    )

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# places in the sandbox
_OF_THE_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "dev", "etc", "proc", "sys", "tmp", "run", "var")
SERVICE = "shares"
_OLDEST_SANDBOX = (0, 4)  # what door.py asks of it
TICK_SECONDS = 1.0


def add(given: "ShareOrder", channel: Channel) -> "ShareMade":
    """{folder, user, access, name?, until?, key?}. Errors: NOT_FOUND, USAGE, CONFLICT, NODE_UNFIT."""
    who = invitations.account(given["user"])
    if who.pw_uid == os.getuid():
        raise NodeError(
            "USAGE",
            f"{given['user']} is this account itself",
            "on a node where all use one account nothing is to be shared",
        )
    folder = _folder(given["folder"], channel)
    name = given["name"] or os.path.basename(folder)
    if not NAME.fullmatch(name) or name in _OF_THE_SYSTEM:
        raise NodeError(
            "USAGE",
            f"{name!r} cannot be the name of a share",
            "choose one with --name: letters, digits, dot, hyphen and underscore",
        )
    if given["until"] is not None and given["until"] <= time.time():
        raise NodeError("USAGE", "the share would be over before it begins", "--until 7d")
    key = given.get("key")
    if key is not None and not invitations.KEY.fullmatch(key):
        raise NodeError(
            "USAGE", "that is no public key of OpenSSH", "give a file such as ~/.ssh/id_ed25519.pub of the other"
        )
    for one in invitations.given():
        if one["user_uid"] == who.pw_uid and one["name"] == name:
            raise NodeError(
                "CONFLICT",
                f"{name} is shared with {given['user']} already",
                f"flexrack share remove {name} {given['user']}, or another --name",
            )
    record: ShareRecord = {
        "id": invitations.new_id(),
        "name": name,
        "folder": folder,
        "owner": invitations.name_of(os.getuid()),
        "owner_uid": os.getuid(),
        "user": given["user"],
        "user_uid": who.pw_uid,
        "access": given["access"],
        "until": given["until"],
        "created": time.time(),
        "opened": [],
        "closed": [],
        "sandbox": None,
    }
    skipped = 0
    try:
        if record["access"] == "write":
            record["sandbox"] = _sandbox(channel.root)
            _keep_door(channel)
            folder_of = invitations.publish(record)
            if key:
                keys.put(record["id"], _door(channel.root, folder_of, record), key)
        else:
            skipped = rights.give(record)
            folder_of = invitations.publish(record)
    except BaseException:
        _end(record)
        raise
    _keeper(channel)
    return {"share": telling.told(folder_of, record), "skipped": skipped}


def listing(_given: "None", channel: Channel) -> "Shares":
    """{account, given, received}. What others wrote is shown as it is: the caller prints it with care."""
    _rest(channel)
    return {
        "account": invitations.name_of(os.getuid()),
        "given": [telling.told(folder, one) for folder, one in invitations.given_in()],
        "received": [telling.received(folder, one) for folder, one in invitations.received()],
    }


def reply(given: "ShareReply", channel: Channel) -> "ShareReplied":
    """{owner, name, accept, key?}. Errors: NOT_FOUND; USAGE where a key is needed to come in."""
    folder, record = _find_received(given["owner"], given["name"])
    key = given.get("key")
    if given["accept"] and record["access"] == "write" and not (key and invitations.KEY.fullmatch(key)):
        raise NodeError(
            "USAGE",
            f"{record['name']} is written through SSH, and needs a public key of yours",
            "--key ~/.ssh/id_ed25519.pub",
        )
    invitations.give_answer(
        folder,
        record,
        {
            "answer": "accepted" if given["accept"] else "declined",
            "key": key if given["accept"] and record["access"] == "write" else None,
        },
    )
    link = channel.root / "shared" / invitations.name_of(record["owner_uid"]) / record["name"]
    if not given["accept"] or record["access"] == "write":
        if link.is_symlink():
            link.unlink()
        return {"share": telling.received(folder, record), "path": None}
    record_installed(channel.root, channel.root / "shared", "shared")
    link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    link.symlink_to(record["folder"])
    return {"share": telling.received(folder, record), "path": str(link)}


def remove(given: "ShareEnd", channel: Channel) -> "ShareEnded":
    """{name, user?}: with all, or with one. Errors: NOT_FOUND."""
    found = [
        (folder, one)
        for folder, one in invitations.given_in()
        if one["name"] == given["name"] and given["user"] in (None, one["user"])
    ]
    if not found:
        raise NodeError(
            "NOT_FOUND",
            f"no share {given['name']}" + (f" with {given['user']}" if given["user"] else ""),
            "flexrack share list",
        )
    told = [telling.told(folder, one) for folder, one in found]
    left = sum(_end(one) for _folder, one in found)
    _rest(channel)
    return {"ended": told, "left": left}


def _rest(channel: Channel) -> None:
    """Ends the keeper where nothing is shared any more."""
    if not invitations.given() and services.status({"id": SERVICE}, channel)["state"] != "absent":
        services.stop({"id": SERVICE, "grace": 5, "remove": True}, channel)


def keep(root: Path) -> None:
    """The keeper's loop. Whoever finds that nothing is shared any more ends it."""
    while True:
        for folder, record in invitations.given_in():
            answer = invitations.answer_to(folder, record)
            try:
                if invitations.state_of(record, answer) in ("expired", "declined"):
                    _end(record)
                elif (
                    record["access"] == "write"
                    and answer["answer"] == "accepted"
                    and answer["key"]
                    and not keys.has(record["id"])
                ):
                    keys.put(record["id"], _door(root, folder, record), answer["key"])
            except (NodeError, OSError) as error:
                print(f"{record['name']}, shared with {record['user']}: {error}", flush=True)
        time.sleep(TICK_SECONDS)


def _folder(text: str, channel: Channel) -> str:
    """Absolute, without links, and one that may be shared at all."""
    path = os.path.realpath(os.path.expanduser(text))
    home, root = os.path.realpath(os.path.expanduser("~")), os.path.realpath(str(channel.root))
    if not os.path.isdir(path):
        raise NodeError("NOT_FOUND", f"there is no folder {text} on this node")
    if os.lstat(path).st_uid != os.getuid():
        raise NodeError(
            "USAGE", f"{text} belongs to {invitations.name_of(os.lstat(path).st_uid)}, who alone can share it"
        )
    for precious in (home, root, os.path.join(home, ".ssh")):
        if precious == path or precious.startswith(path.rstrip(os.sep) + os.sep):
            raise NodeError(
                "USAGE", f"{text} holds {precious}, which is nobody else's business", "share a folder below it"
            )
    return path


def _sandbox(root: Path) -> str:
    """Path of a bubblewrap that works here. Raises NODE_UNFIT."""
    path = bubblewrap.find(root, _OLDEST_SANDBOX)
    if not path:
        raise NodeError(
            "NODE_UNFIT",
            "writing needs bubblewrap on the node, which has none and could be sent none",
            "have its package bubblewrap installed, or share with --read",
        )
    tried = subprocess.run(
        [path, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--", "/bin/true"],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        from flexrack_node.image import runtime  # only where it has to say why: it knows how to unpack it, too

        raise NodeError("NODE_UNFIT", *runtime.reason(tried.stderr))
    return path


def _door(root: Path, folder: Path, record: "ShareRecord") -> List[str]:
    return [sys.executable, "-I", "-S", str(root / "shares" / "door.py"), str(folder), record["id"]]


def _keep_door(channel: Channel) -> None:
    """A copy that stays: programs of older versions are removed."""
    place = channel.root / "shares"
    place.mkdir(mode=0o700, exist_ok=True)
    record_installed(channel.root, place, "shares")
    replace_file(place / "door.py", Path(__file__).with_name("door.py").read_text())


def _keeper(channel: Channel) -> None:
    """Runs from here on, also after a reboot."""
    package = Path(__file__).resolve().parents[1]
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r}); from pathlib import Path; from flexrack_node.share.control import keep; keep(Path({str(channel.root)!r}))"
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": os.path.expanduser("~"),
        **({"FLEXRACK_SHARES": os.environ["FLEXRACK_SHARES"]} if "FLEXRACK_SHARES" in os.environ else {}),
    }
    services.start(
        {
            "id": SERVICE,
            "argv": [sys.executable, "-I", "-S", "-c", code],
            "env": environment,
            "cwd": str(channel.root),
            "restart": {"max": 5, "window_seconds": 60},
            "grace": 5,
            "replace": True,
        },
        channel,
    )


def _end(record: "ShareRecord") -> int:
    """All of a share, as far as it was made. The record first: who is at the door sees that it is gone."""
    invitations.withdraw(record)
    keys.remove(record["id"])
    return rights.take(record, [one for one in invitations.given() if one["user_uid"] == record["user_uid"]])


def _find_received(owner: str, name: str) -> "Tuple[Path, ShareRecord]":
    uid = invitations.account(owner).pw_uid
    for folder, record in invitations.received():
        if record["owner_uid"] == uid and record["name"] == name and NAME.fullmatch(name):
            return folder, record
    raise NodeError(
        "NOT_FOUND",
        f"{owner} shares no {name} with {invitations.name_of(os.getuid())} on this node",
        "flexrack share list",
    )
