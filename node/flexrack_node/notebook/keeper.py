"""python3 notebook/keeper.py ROOT PROJECT: runs a notebook's server, and ends what is idle. The service's supervisor
keeps it running.

It ends a kernel that has done nothing for the time that was said, and the whole once that is over for all of it; what
ended when and why stays in state.json. Jupyter could do the first itself, and would not say so.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.gpu.held_passes import end_passes, held_places
from flexrack_node.gpu.pass_keeping import PassKeeping
from flexrack_node.image.enter import enter_words
from flexrack_node.notebook import idle as rules
from flexrack_node.notebook.folder import NotebookFolder, runtime_of
from flexrack_node.notebook.server_client import ServerClient
from flexrack_node.service.record import ServiceRecord

if TYPE_CHECKING:
    from flexrack_node.notebook.broker import Broker

SERVER = Path(__file__).resolve().with_name("server.py")
RUNTIME_INSIDE = "/tmp/jupyter"  # of a sandbox: with the sockets of kernels
_READY_SECONDS = 0.2  # between looks until it answers
_LOOK_SECONDS = 5.0  # at most, afterwards
_KEPT_ENDS = 50
_GRACE_SECONDS = 10.0


class Keeper:
    def __init__(self, place: NotebookFolder) -> None:
        self.place = place
        self.settings: Dict[str, Any] = dict(or_nothing(read("notebook.settings", place.settings)))
        self.client = ServerClient(self.settings["socket"], place.token.read_text())
        self.ended: List[Any] = list(or_nothing(read("notebook.state", place.state)).get("ended", []))
        self.idle = float(self.settings["idle"])
        self.stopping = False
        self.server: Optional[subprocess.Popen[bytes]] = None
        self.broker: Optional[Broker] = None
        self.passes = PassKeeping(lambda: held_places(place.path / "gpus.json"))

    def run(self) -> int:
        self.tell(ready=False)
        try:
            self.server = self.start()
            return self.stay()
        finally:
            if self.broker:
                self.broker.close()

    def start(self) -> "subprocess.Popen[bytes]":
        """The server, by itself or in its sandbox. There it gets the socket opened, and nothing of ours is its own."""
        python, code = f"{self.settings['server']}/bin/python", str(self.place.workspace.code)
        order = self.settings.get("order")
        if order is None:
            words = [python, "-I", "-m", "jupyterlab", "--no-browser"]
            return subprocess.Popen(words, env=self.environment(), cwd=code)
        if order.get("over"):
            from flexrack_node.notebook.broker import Broker

            self.broker = Broker(self.place, Path(self.settings["environments"]))
        with listening(self.settings["socket"]) as opened:
            words = enter_words(
                self.place.root,
                Path(self.settings["environments"]),
                order,
                [python, "-I", str(SERVER), str(opened.fileno())],
            )
            return subprocess.Popen(words, env=self.environment(), cwd=code, pass_fds=[opened.fileno()])

    def stay(self) -> int:
        """Until it is to stop, or the server has ended."""
        assert self.server
        ready = False
        while not self.stopping:
            if self.server.poll() is not None:
                print(
                    f"[flexrack] the server of notebooks ended (status {self.server.returncode}), and its kernels with it",
                    flush=True,
                )
                self.note("the server and its kernels", "the server ended by itself, or was killed")
                self.tell(ready=False)
                return 1
            if ready:
                self.look()
            elif self.client.is_ready():
                ready = True
                self.tell(ready=True)
                continue
            self.sleep(min(_LOOK_SECONDS, self.idle / 10 or _LOOK_SECONDS) if ready else _READY_SECONDS)
        self.server.terminate()
        try:
            self.server.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.server.kill()
        self.tell(ready=False)
        return 0

    def environment(self) -> Dict[str, str]:
        """Kernels inherit it: the token is only named, by a file that nobody else reads."""
        place, environment = self.place, self.settings["environment"]
        inside = self.settings.get("order") is not None
        return {
            **os.environ,
            "PATH": f"{environment}/bin{os.pathsep}{os.environ.get('PATH', '')}",
            "VIRTUAL_ENV": environment,
            "JUPYTER_TOKEN_FILE": str(place.token),
            "JUPYTER_CONFIG_DIR": str(place.config),
            "JUPYTER_RUNTIME_DIR": RUNTIME_INSIDE if inside else runtime_of(self.settings["socket"]),
            "JUPYTER_DATA_DIR": str(place.data),
            "JUPYTER_PATH": str(place.kernels),
            "JUPYTERLAB_SETTINGS_DIR": str(place.data / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(place.data / "lab"),
            "IPYTHONDIR": str(place.data / "ipython"),
        }

    def look(self) -> None:
        """Raises nothing: what the server says may be nonsense."""
        self.passes.look()
        end_at = self.settings.get("end_at")
        if end_at is not None and end_at <= time.time():
            self.end(rules.END_SAID)
            return
        try:
            status = self.client.ask("/api/status")
            sessions = self.client.ask("/api/sessions?no_track_activity=1")
            kernels = rules.kernels_of(self.client.ask("/api/kernels?no_track_activity=1"), sessions, self.idle)
            terminals = self.client.ask("/api/terminals?no_track_activity=1")
            now = time.time()
            late = rules.overdue(kernels, now)
            kernels = [one for one in kernels if one not in late]
            end = rules.server_end(status, kernels, len(terminals), self.idle, end_at)
        except (OSError, AttributeError, KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            print(f"[flexrack] the server of notebooks was not understood: {error!r}", flush=True)
            return
        for kernel in late:
            self.end_kernel(kernel)
        self.tell(ready=True, kernels=kernels, ends_at=end["at"], ends_why=end["why"])
        if end["at"] is not None and end["at"] <= now:
            self.end(end["why"])

    def end(self, why: str) -> None:
        self.note("the notebook", why)
        self.tell(ready=False)
        self.end_service()

    def end_kernel(self, kernel: Dict[str, Any]) -> None:
        try:
            self.client.ask(f"/api/kernels/{kernel['id']}", "DELETE")
        except OSError as error:
            print(f"[flexrack] kernel {kernel['id']} was not ended: {error}", flush=True)
            return
        self.note(f"the kernel of {kernel['notebook'] or kernel['id'][:8]}", f"idle for {rules.duration(self.idle)}")

    def end_service(self) -> None:
        """As `notebook stop` does it, but what is told of it stays."""
        for node in end_passes(self.place.path / "gpus.json"):
            print(f"[flexrack] {node} was not told that the notebook has ended; its pass ends within a day", flush=True)
        ServiceRecord(self.place.root, self.place.service).end_from_within(_GRACE_SECONDS)
        self.stopping = True

    def note(self, what: str, why: str) -> None:
        self.ended = [*self.ended, {"what": what, "why": why, "at": time.time()}][-_KEPT_ENDS:]

    def tell(
        self,
        ready: bool,
        kernels: Optional[List[Dict[str, Any]]] = None,
        ends_at: Optional[float] = None,
        ends_why: Optional[str] = None,
    ) -> None:
        state: Any = {
            "ready": ready,
            "at": time.time(),
            "kernels": kernels or [],
            "ends_at": ends_at,
            "ends_why": ends_why,
            "ended": self.ended,
        }
        write("notebook.state", self.place.state, state, durable=False)

    def sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.stopping and self.server is not None and self.server.poll() is None and time.monotonic() < until:
            time.sleep(min(0.1, seconds))


def listening(path: str) -> socket.socket:
    """A unix socket of this account alone, in place of what an earlier one has left."""
    Path(path).unlink(missing_ok=True)
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    opened.bind(path)
    os.chmod(path, 0o600)
    opened.listen(128)
    return opened


def main(root: str, project: str) -> int:
    os.umask(0o077)
    keeper = Keeper(NotebookFolder(Path(root), project))

    def stop(_number: int, _frame: Optional[FrameType]) -> None:
        keeper.stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return keeper.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
