"""Where invitations lie: /var/tmp/flexrack-shares-UID/, which whoever is invited may enter, as they may not enter the
owner's home.

    ID.json    what is shared with whom: the owner's, read by the one who is invited
    ID.answer  the owner's, written by the one who is invited: {answer, key?}; hostile text, read as such

Names in /var/tmp are anybody's to take: a folder counts as an account's only where that account owns it, and it is
closed to others.
"""

import json
import os
import pwd
import re
import secrets
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Iterator, List, Optional, Tuple

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import read, write
from flexrack_node.share import acl

if TYPE_CHECKING:
    from flexrack_node.schema.share import ShareAnswer, ShareRecord

_TRIES = 20
_MOST = 1000  # invitations of one account that are looked at
_ANSWER_BYTES = 8192
_ID = re.compile(r"[0-9a-f]{16}")
KEY = re.compile(
    r"(?:ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) [A-Za-z0-9+/]{32,4096}={0,3}"
)


def base() -> Path:
    return Path(os.environ.get("FLEXRACK_SHARES") or "/var/tmp")


def own_folder(make: bool = False) -> Optional[Path]:
    """This account's. Raises NODE_UNFIT where all of its names are taken."""
    uid = os.getuid()
    for number in range(_TRIES):
        path = base() / (f"flexrack-shares-{uid}" + (f"-{number}" if number else ""))
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            if not make:
                return None
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                continue
            return path
        if stat.S_ISDIR(status.st_mode) and status.st_uid == uid and not status.st_mode & 0o007:
            return path
    raise NodeError(
        "NODE_UNFIT",
        f"the names flexrack-shares-{uid} in {base()} are all taken by others",
        "have the node's administrator remove them",
    )


def folders_of_others() -> Iterator[Tuple[Path, int]]:
    """Of other accounts, as far as this one may look into them, and whose they are."""
    try:
        names = sorted(os.listdir(base()))
    except OSError:
        return
    for name in names:
        if re.fullmatch(r"flexrack-shares-\d{1,10}(-\d{1,2})?", name):
            path = base() / name
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if (
                stat.S_ISDIR(status.st_mode)
                and status.st_uid != os.getuid()
                and name.split("-")[2] == str(status.st_uid)
            ):
                yield path, status.st_uid


def records_in(folder: Path, uid: int) -> "List[ShareRecord]":
    """Those of an account that can be read, whole ones alone."""
    found: List[ShareRecord] = []
    try:
        names = sorted(os.listdir(folder))[:_MOST]
    except OSError:
        return found
    for name in names:
        if not name.endswith(".json") or not _ID.fullmatch(name[:-5]):
            continue
        path = folder / name
        try:
            status = os.lstat(path)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != uid or status.st_size > 1 << 20:
                continue
            record = read("share.record", path)
            if record and record["id"] == name[:-5] and record["owner_uid"] == uid:
                found.append(record)
        except NodeError:  # of a newer flexrack
            if uid == os.getuid():
                raise
        except (OSError, KeyError, TypeError, ValueError):
            continue  # somebody else's file: it is no invitation
    return found


def given_in() -> "List[Tuple[Path, ShareRecord]]":
    """What this account shares, and in which folder that lies."""
    folder = own_folder()
    return [(folder, one) for one in records_in(folder, os.getuid())] if folder else []


def given() -> "List[ShareRecord]":
    return [one for _folder, one in given_in()]


def received() -> "List[Tuple[Path, ShareRecord]]":
    """What others share with this account."""
    return [
        (folder, record)
        for folder, uid in folders_of_others()
        for record in records_in(folder, uid)
        if record["user_uid"] == os.getuid()
    ]


def new_id() -> str:
    return secrets.token_hex(8)


def publish(record: "ShareRecord") -> Path:
    """Returns the folder that it lies in. Raises NODE_UNFIT, OSError."""
    folder = own_folder(make=True)
    if folder is None:
        raise NodeError("NODE_UNFIT", f"no folder can be made in {base()}")
    uid = record["user_uid"]
    acl.set_user(str(folder), uid, acl.READ | acl.EXECUTE)
    answer = folder / f"{record['id']}.answer"
    with open(os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w") as file:
        file.write("{}")
    acl.set_user(str(answer), uid, acl.READ | acl.WRITE)
    path = folder / f"{record['id']}.json"
    write("share.record", path, record)
    acl.set_user(str(path), uid, acl.READ)
    return folder


def withdraw(record: "ShareRecord") -> None:
    folder = own_folder()
    if not folder:
        return
    for end in (".json", ".answer"):
        try:
            os.unlink(folder / (record["id"] + end))
        except FileNotFoundError:
            pass
    left = given()
    if not any(one["user_uid"] == record["user_uid"] for one in left):
        acl.set_user(str(folder), record["user_uid"], None)
    if not left:
        try:
            os.rmdir(folder)
        except OSError:
            pass


def answer_to(folder: Path, record: "ShareRecord") -> "ShareAnswer":
    """What was answered. Whoever is invited may write anything there."""
    path = folder / f"{record['id']}.answer"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return {"answer": None, "key": None}
            value = json.loads(file.read(_ANSWER_BYTES))
    except (OSError, ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return {"answer": None, "key": None}
    said, key = value.get("answer"), value.get("key")
    return {
        "answer": said if said in ("accepted", "declined") else None,
        "key": key if isinstance(key, str) and KEY.fullmatch(key) else None,
    }


def give_answer(folder: Path, record: "ShareRecord", answer: "ShareAnswer") -> None:
    """As the one who is invited. Raises OSError."""
    fd = os.open(folder / f"{record['id']}.answer", os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(fd, "w") as file:
        file.truncate(0)
        json.dump(answer, file)


def state_of(record: "ShareRecord", answer: "ShareAnswer") -> str:
    if record["until"] is not None and record["until"] <= time.time():
        return "expired"
    return answer["answer"] or "invited"


def account(name: str) -> pwd.struct_passwd:
    """Raises NOT_FOUND."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise NodeError("NOT_FOUND", f"there is no account {name} on this node") from None


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
