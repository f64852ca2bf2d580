"""What sshd starts for somebody who may write into a folder of this account: python3 -I -S door.py
FOLDER_OF_INVITATIONS ID.

It serves SFTP, or rsync, as this account, in a sandbox (bubblewrap) that has that folder and the system's programs, and
nothing else: no home, no network, no other process. It ends when the share is taken back or is over. It stands for
itself: the program that put it there may be gone. Prints errors for the one who connects.

sshd takes the first line that has a key, whichever share it was for: so all that the same account has accepted is
there, and the line's own share is where it begins.
"""

import json
import os
import pwd
import re
import shlex
import stat
import subprocess
import sys
import time
from typing import Any, Dict, List, Optional

SFTP = (
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
    "/usr/libexec/sftp-server",
    "/usr/lib/misc/sftp-server",
)
LOOK_SECONDS = 0.5
MARK = "flexrack-share-"  # keys.py


def main() -> int:
    folder, share = sys.argv[1], sys.argv[2]
    record = valid(folder, share)
    if record is None:
        return refuse("this folder is not shared any more")
    command = wanted(os.environ.get("SSH_ORIGINAL_COMMAND", ""))
    if command is None:
        return refuse(f"this key is for sftp, scp and rsync into one folder: /{record['name']}")
    others = beside(folder, record)
    read_end, write_end = os.pipe()
    me = pwd.getpwuid(os.getuid())
    os.write(write_end, f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::/{record['name']}:/bin/sh\n".encode())
    os.close(write_end)
    try:
        child = subprocess.Popen(
            [*sandbox([record, *others], read_end), *command],
            pass_fds=[read_end],
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        )
    except OSError as error:
        return refuse(f"the sandbox of this folder cannot be started: {error.strerror}")
    os.close(read_end)
    while True:
        try:
            return child.wait(LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            if any(valid(folder, one["id"]) is None for one in (record, *others)):
                child.kill()
                child.wait()
                return refuse("this folder is not shared any more")


def valid(folder: str, share: str) -> Optional[Dict[str, Any]]:
    """The record, where it is this account's own and says that the share goes on, and its folder is where it was: what
    came there instead, such as a link, was not shared.
    """
    try:
        path = os.path.join(folder, share + ".json")
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            return None
        with open(path) as file:
            record: Dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return None
    if (
        record.get("access") != "write"
        or record.get("id") != share
        or (record.get("until") is not None and record["until"] <= time.time())
    ):
        return None
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", record.get("name", "")):
        return None
    return (
        record if os.path.isdir(record["folder"]) and os.path.realpath(record["folder"]) == record["folder"] else None
    )


def beside(folder: str, record: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What else the same account may write, and has accepted."""
    found = []
    try:
        with open(os.path.expanduser("~/.ssh/authorized_keys"), errors="surrogateescape") as file:
            marks = {line.split()[-1] for line in file if line.strip()}
        for name in sorted(os.listdir(folder)):
            other = valid(folder, name[:-5]) if re.fullmatch(r"[0-9a-f]{16}\.json", name) else None
            if other and other["id"] != record["id"] and other["user_uid"] == record["user_uid"]:
                found += [other] if MARK + other["id"] in marks else []
    except OSError:
        pass
    return found


def wanted(original: str) -> Optional[List[str]]:
    """What may be run of what was asked for; sshd passes the subsystem's own command for sftp."""
    try:
        words = shlex.split(original)
    except ValueError:
        return None
    if words and os.path.basename(words[0]) in ("sftp-server", "internal-sftp"):
        server = next((path for path in SFTP if os.path.exists(path)), None)
        return [server] if server else None
    if words[:2] == ["rsync", "--server"]:
        return words
    return None


def sandbox(records: List[Dict[str, Any]], passwd: int) -> List[str]:
    """bubblewrap's command line, without the command; it begins in the first one's folder."""
    inside = "/" + records[0]["name"]
    system = []
    for path in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        if os.path.islink(path):
            system += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            system += ["--ro-bind", path, path]
    return [
        records[0]["sandbox"],
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/usr",
        "/usr",
        *system,
        "--ro-bind-try",
        "/etc/ld.so.cache",
        "/etc/ld.so.cache",
        "--ro-bind-data",
        str(passwd),
        "/etc/passwd",
        "--dev",
        "/dev",
        *(word for one in records for word in ("--bind", one["folder"], "/" + one["name"])),
        "--chdir",
        inside,
        "--setenv",
        "HOME",
        inside,
        "--",
    ]


def refuse(text: str) -> int:
    sys.stderr.write(f"flexrack: {text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
