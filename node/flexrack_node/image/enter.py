"""The one way into a workspace's image, and into its sandbox: for commands, terminals, editors, notebooks, ranks and
model servers.

    python3 -I -S enter.py ROOT ENVIRONMENTS ORDER -- ARGV...     ORDER: an EnterOrder as JSON; the variables are those it is started with

It stays as the parent: it passes signals on, and its status is the program's. A program of its own, so that what it is
started with is plain words, which a Slurm script, a forced command of sshd and a supervisor can all have
(`enter_words`).
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, List, Mapping, Optional, Set, Tuple

if __package__ in (None, ""):  # started as a file
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.errors import NodeError
from flexrack_node.image.marks import TAGS

if TYPE_CHECKING:
    from flexrack_node.image.sandbox import Start
    from flexrack_node.schema.image import EnterOrder

REFUSED = 125  # status where nothing was started: as of `docker run`, `env`, `timeout`
NAME = "flexrack-enter"
_PASSED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
_SI_KERNEL = 0x80
_PR_SET_NAME, _PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 15, 1, 36


def enter_words(root: Path, environments: Path, order: "EnterOrder", argv: List[str]) -> List[str]:
    """What starts `argv` inside. Nothing in it is secret."""
    return [
        sys.executable,
        "-I",
        "-S",
        str(Path(__file__).resolve()),
        str(root),
        str(environments),
        json.dumps(order, separators=(",", ":")),
        "--",
        *argv,
    ]


def main(arguments: List[str]) -> int:
    root, environments, order, argv = Path(arguments[0]), Path(arguments[1]), json.loads(arguments[2]), arguments[4:]
    try:
        if order.get("die"):
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        return Entrance(root, environments, order).run(argv)
    except NodeError as error:
        print(f"flexrack: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  try: {error.hint}", file=sys.stderr)
        return REFUSED


class Entrance:
    def __init__(self, root: Path, environments: Path, order: "EnterOrder") -> None:
        from flexrack_node.image import limits, prepare

        self.prepared = prepare.prepare(root, environments, order)
        self.limits = limits.Limits(order.get("isolate"))
        self.order = order

    def run(self, argv: List[str]) -> int:
        for warning in self.prepared.gpus.warnings:
            print(f"flexrack: warning: {warning}", file=sys.stderr, flush=True)
        start = self.prepared.start(argv, dict(os.environ))
        try:
            return self._run(start)
        finally:
            if start.scratch:
                import shutil

                shutil.rmtree(start.scratch, ignore_errors=True)

    def _run(self, start: "Start") -> int:
        words, is_foreground = start.words, _is_foreground()
        tells_child = self.prepared.engine == "bubblewrap"
        numbers = {name: _readable(content) for name, content in start.data.items()}
        told, tells = os.pipe()
        if tells_child:
            words = [str(numbers[word[1:-1]]) if word[:1] == "{" and word[1:-1] in numbers else word for word in words]
            words[1:1] = [*([] if is_foreground else ["--die-with-parent"]), "--info-fd", str(tells)]
        words = self.limits.words(words)
        _forget_tags()
        _prctl(_PR_SET_NAME, ctypes.c_char_p(NAME.encode()))
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        waited: Set[int] = {*_PASSED, signal.SIGCHLD}
        before: Set[int] = signal.pthread_sigmask(signal.SIG_BLOCK, waited)
        monitor = os.fork()
        if monitor == 0:
            self._become(
                words,
                start.env,
                before,
                [*numbers.values(), *([tells] if tells_child else [])],
                (not is_foreground, not is_foreground and not self.order.get("group")),
            )
        os.close(tells)
        for fd in numbers.values():
            os.close(fd)
        try:
            child = _child_of(told)
            status = self._stay(monitor, child, waited)
        finally:
            self.limits.close()
        if child is None and tells_child:
            self._explain()
            return REFUSED
        return status

    def _explain(self) -> None:
        """Nothing could be started: where this machine forbids it, the setting is named; else bubblewrap has said why."""
        from flexrack_node.image import runtime

        found = runtime.trouble(self.prepared.program, overlay=self.order.get("image") is not None)
        if found:
            raise NodeError("NODE_UNFIT", *found)

    def _become(
        self, words: List[str], env: Mapping[str, str], mask: Set[int], keep: List[int], how: Tuple[bool, bool]
    ) -> None:
        """In the child; never returns. `how`: it ends with us; it has a group of its own."""
        dies, own_group = how
        try:
            if dies and self.prepared.engine != "bubblewrap":  # which does this itself
                _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if own_group:  # a signal to our group is ours, and we pass it on once
                os.setpgid(0, 0)
            self.limits.enter()
            for fd in keep:
                os.set_inheritable(fd, True)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            os.execve(words[0], words, dict(env))
        except OSError as error:
            os.write(2, f"flexrack: {words[0]}: {error.strerror}\n".encode())
        finally:
            os._exit(REFUSED)

    def _stay(self, monitor: int, child: Optional[int], waited: Set[int]) -> int:
        """Passes signals on until the program has ended; its status, as a shell gives it."""
        status: Optional[int] = None
        monitor_gone = False
        while True:
            info = signal.sigwaitinfo(waited)
            if info.si_signo != signal.SIGCHLD:
                if info.si_code != _SI_KERNEL:  # a terminal's went to all of the group by itself
                    for pid in self._programs(monitor, child):
                        _send(pid, info.si_signo)
                continue
            while True:
                try:
                    pid, code = os.waitpid(-1, os.WNOHANG)
                except ChildProcessError:
                    return status if status is not None else REFUSED
                if pid == 0:
                    break
                ended = os.WEXITSTATUS(code) if os.WIFEXITED(code) else 128 + os.WTERMSIG(code)
                if pid == monitor:
                    monitor_gone = True
                    if os.WIFEXITED(code):
                        status = ended
                    elif child is None or not _is_alive(child):
                        status = ended if status is None else status
                elif pid == child:
                    status = ended if status is None else status
            if monitor_gone and status is not None:
                if self.order.get("isolate") is not None and child:
                    _send(child, signal.SIGKILL)  # the first process of its namespace: all others there end with it
                if self.prepared.engine == "proot":
                    _end_children()
                return status

    def _programs(self, monitor: int, child: Optional[int]) -> List[int]:
        """Whom a signal is for: where the sandbox has processes of its own, `child` is only their first one, and takes
        none.
        """
        if self.prepared.engine == "proot":  # it traces the program, and takes no signal for it
            return children_of(monitor)
        if self.prepared.engine != "bubblewrap":  # it has become the program
            return [monitor]
        if child is None:
            return []
        return [child] if self.order.get("isolate") is None else children_of(child)


def _end_children() -> None:
    """What a proot that was killed has traced: it goes on without its paths being translated."""
    while True:
        for pid in children_of(os.getpid()):
            _send(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def children_of(parent: int) -> List[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    if int(file.read().rpartition(b")")[2].split()[1]) == parent:
                        found.append(int(name))
            except (OSError, IndexError):
                continue
    return found


def _child_of(told: int) -> Optional[int]:
    """bubblewrap tells its number of the program, or of the first process of the sandbox, as JSON; it ends without a
    word where it fails.
    """
    text = b""
    with os.fdopen(told, "rb") as file:
        text = file.read()
    try:
        return int(json.loads(text)["child-pid"])
    except (ValueError, KeyError):
        return None


def _is_foreground() -> bool:
    """A terminal that is ours: then what runs inside has to be in the terminal's group, and may be stopped and
    continued from it.
    """
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def _readable(content: bytes) -> int:
    """A descriptor that has this content."""
    fd = os.memfd_create("flexrack", os.MFD_CLOEXEC)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _forget_tags() -> None:
    """In /proc/self/environ, too, which is the memory that this process began with: environ(7), proc(5)."""
    libc = ctypes.CDLL(None)
    environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
    block = ctypes.cast(environ, ctypes.POINTER(ctypes.c_void_p))
    index = 0
    while block[index]:
        text = ctypes.string_at(block[index])
        if text.partition(b"=")[0].decode(errors="replace") in TAGS:
            ctypes.memset(block[index], ord("_"), len(text))
        index += 1


def _prctl(option: int, value: object) -> None:
    try:
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
