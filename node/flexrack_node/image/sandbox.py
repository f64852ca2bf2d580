"""argv of bubblewrap for a program in an image, in a sandbox, or both. Pure but for looking at this machine and at the
image.

Facts: bubblewrap(1) of 0.11; apptainer's list of NVIDIA's libraries is in gpus.py.
"""

import os
import pwd
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional, Set

from flexrack_node.base.errors import NodeError
from flexrack_node.image.gpus import GpuParts
from flexrack_node.image.merged import MergedLayers

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder

# of this machine, whatever the image says: the network is this machine's
NAMES = ("/etc/resolv.conf", "/etc/hosts", "/etc/localtime")
_SECRET = ("SSH_AUTH_SOCK", "SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR")


class Start(NamedTuple):
    """What is started, and what that needs: contents that it reads from descriptors (the words have `{name}` in place
    of their numbers), and a folder to be removed at its end.
    """

    words: List[str]
    env: Dict[str, str]
    data: Dict[str, bytes]
    scratch: Optional[Path]


class Sandbox:
    """Collects words; `data` are contents that bubblewrap reads from descriptors (the words have `{name}` in place of
    their numbers).
    """

    def __init__(
        self,
        program: str,
        order: "EnterOrder",
        layers: Optional[List[str]],
        gpus: GpuParts,
        own: Optional[List[str]] = None,
    ) -> None:
        """`own`: folders of flexrack's. What is of other runs and projects in them is not seen in a sandbox."""
        self.words: List[str] = [program, "--unshare-user"]
        self.data: Dict[str, bytes] = {}
        self.order, self.gpus = order, gpus
        self.image = MergedLayers(layers) if layers is not None else None
        self.layers = layers or []
        self.is_isolated = order.get("isolate") is not None
        self.own = own or []

    def argv(self, argv: List[str], env: Mapping[str, str]) -> List[str]:
        """The whole of it; data still by name."""
        self._namespaces()
        self._root()
        self._devices()
        self._folders()
        if self.image:
            self._people()
        self._variables(env)
        return [*self.words, "--chdir", self.order["cwd"], "--", *argv]

    def _namespaces(self) -> None:
        isolate = self.order.get("isolate")
        if isolate is None:
            return
        self.words += [
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--disable-userns",
            "--cap-drop",
            "ALL",
        ]
        if isolate["network"] == "none":
            self.words.append("--unshare-net")

    def _root(self) -> None:
        if self.image:
            for layer in self.layers:
                self.words += ["--overlay-src", layer]
            self.words += ["--tmp-overlay", "/"]
        else:
            self.words += ["--ro-bind", "/", "/"]

    def _devices(self) -> None:
        self.words += ["--dev", self._exact("/dev")]
        if self.is_isolated:
            self.words += ["--proc", self._exact("/proc")]
        else:  # a new one could not be mounted without processes of its own
            self.words += ["--bind", "/proc", self._exact("/proc"), "--bind", "/dev/shm", "/dev/shm"]
            if os.path.isdir("/dev/mqueue"):
                self.words += ["--bind", "/dev/mqueue", "/dev/mqueue"]
        if self.image and os.path.isdir("/sys"):
            self.words += ["--ro-bind", "/sys", self._exact("/sys")]
        if os.path.isdir("/dev/infiniband") and not self.is_isolated:
            self.words += ["--dev-bind", "/dev/infiniband", "/dev/infiniband"]
        for device in self.gpus.devices:
            self.words += ["--dev-bind-try", device[0], device[1]]

    def _folders(self) -> None:
        if self.is_isolated:
            self._hide()
        elif self.image:
            self.words += ["--bind", "/tmp", self._place("/tmp")]
            cache = os.path.expanduser("~/.cache")
            if os.path.isdir(cache):
                self.words += ["--bind", cache, self._place(cache)]
        program = str(Path(__file__).resolve().parents[2])
        for path in [program, *self.order["read"]]:
            self.words += ["--ro-bind-try" if self.is_isolated else "--bind-try", path, self._place(path)]
        for path in self.order["write"]:
            self.words += ["--bind", path, self._place(path)]
        for volume in self.order.get("volumes", []):
            # Where the node's own files are seen, a link on the way is one of them, and nothing can be mounted on it.
            target = self._place(volume["path"]) if self.image else os.path.realpath(volume["path"])
            self.words += ["--bind" if volume["write"] else "--ro-bind", volume["path"], target]
        for source, target in self.order.get("over", []):
            self.words += ["--ro-bind", source, self._place(target)]
        for source, target in self.gpus.files:
            self.words += ["--ro-bind-try", source, self._place(target)]
        for target, link in self.gpus.links:
            self.words += ["--symlink", target, self._place(link)]
        if self.image:
            for name in NAMES:
                if os.path.exists(name):
                    self.words += ["--ro-bind", os.path.realpath(name), self._place(name)]
        if self.is_isolated and self.order["write"] and self.image is None:
            self.words += ["--remount-ro", "/"]

    def _hide(self) -> None:
        """What belongs to people and to the session: homes, other programs' sockets, temporary files of others."""
        home = home_of()
        hidden = ["/tmp", "/var/tmp", "/run", "/home", "/root", home, "/var/run", *([] if self.image else self.own)]
        seen: Set[str] = set()
        for path in hidden:
            real = path if self.image else os.path.realpath(path)
            if (
                real in seen
                or real == "/"
                or (not self.image and not os.path.isdir(real))
                or any(one in map(str, Path(real).parents) for one in seen)
            ):
                continue
            seen.add(real)
            self.words += ["--tmpfs", self._place(real)]
        if self.image is None and os.path.realpath("/etc/resolv.conf").startswith("/run/"):
            real = os.path.realpath("/etc/resolv.conf")
            self.words += ["--ro-bind-try", real, real]
        if self.image is None:
            self.words += ["--dir", home]

    def _people(self) -> None:
        assert self.image is not None
        for name, content in people(self.image).items():
            self.data[name] = content
            self.words += ["--perms", "0644", "--ro-bind-data", f"{{{name}}}", self._place(f"/etc/{name}")]

    def _variables(self, env: Mapping[str, str]) -> None:
        for name in gone(self.order, os.environ):
            self.words += ["--unsetenv", name]
        for name, value in env.items():
            self.words += ["--setenv", name, value]

    def _exact(self, path: str) -> str:
        return path if self.image is None else exact(self.image, path)

    def _place(self, path: str) -> str:
        return path if self.image is None else place_in(self.image, path)


def gone(order: "EnterOrder", env: Mapping[str, str]) -> List[str]:
    """Variables that do not go inside."""
    foreign = [
        name
        for name in ("PYTHONHOME", "PYTHONPATH")
        if order.get("image") and name in env and name not in order["keep"]
    ]
    return [*(_SECRET if order.get("isolate") is not None else ()), *foreign]


def changed(order: "EnterOrder", env: Mapping[str, str], more: Mapping[str, str]) -> Dict[str, str]:
    """The environment of the program, where its runtime passes on what it has."""
    hidden = gone(order, env)
    return {**{name: value for name, value in env.items() if name not in hidden}, **more}


def place_in(image: MergedLayers, path: str) -> str:
    """Where it is mounted: links of the image are followed within the image, as a runtime itself would follow them to
    wherever they lead. Raises NODE_UNFIT.
    """
    resolved = image.resolve(path)
    if resolved is None or resolved == "/":
        raise NodeError("NODE_UNFIT", f"the image cannot be used: its {path} is a link without an end", None)
    found = image.entry(resolved)
    if found and not (stat.S_ISDIR(found[1].st_mode) or stat.S_ISREG(found[1].st_mode)):
        raise NodeError("NODE_UNFIT", f"the image cannot be used: its {resolved} is neither a folder nor a file", None)
    return resolved


def exact(image: MergedLayers, path: str) -> str:
    """A folder of the kernel's: no image has a reason to have it elsewhere. Raises NODE_UNFIT."""
    if place_in(image, path) != path:
        raise NodeError("NODE_UNFIT", f"the image cannot be used: its {path} is a link", None)
    return path


def people(image: MergedLayers) -> Dict[str, bytes]:
    """{passwd, group}: the image's, and who we are in them, too: programs ask for our name and home."""
    try:
        me = pwd.getpwuid(os.getuid())
        line = f"{me.pw_name}:x:{me.pw_uid}:{me.pw_gid}::{me.pw_dir}:{_shell(image, me.pw_shell)}\n"
    except KeyError:
        line = f"user:x:{os.getuid()}:{os.getgid()}::{home_of()}:{_shell(image, '/bin/sh')}\n"
    known = [one for one in image.text("/etc/passwd").splitlines() if one.split(":")[2:3] != [str(os.getuid())]]
    groups = image.text("/etc/group").splitlines()
    if not any(one.split(":")[2:3] == [str(os.getgid())] for one in groups):
        groups.append(f"{line.split(':')[0]}:x:{os.getgid()}:")
    return {"passwd": ("\n".join([*known, line])).encode(), "group": ("\n".join([*groups, ""])).encode()}


def home_of() -> str:
    home = os.environ.get("HOME", "")
    if os.path.isabs(home) and home != "/":
        return os.path.normpath(home)
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/root"


def _shell(image: MergedLayers, wanted: str) -> str:
    return wanted if image.file(wanted) else "/bin/sh"
