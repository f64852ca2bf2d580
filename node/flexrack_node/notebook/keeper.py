"""python3 notebook/keeper.py ROOT PROJECT: runs a notebook's server, and ends what is idle. The service's supervisor
keeps it running.

It ends a kernel that has done nothing for the time that was said, and the whole once that is over for all of it; what
ended when and why stays in state.json. Jupyter could do the first itself, and would not say so.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any, Dict, List, Optional

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from flexrack_node.base.stored import or_nothing, read, write
from flexrack_node.notebook import idle as rules
from flexrack_node.notebook.folder import NotebookFolder, runtime_of
from flexrack_node.notebook.server_client import ServerClient
from flexrack_node.service.record import ServiceRecord

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

    def run(self) -> int:
        self.tell(ready=False)
        self.server = subprocess.Popen(
            [f"{self.settings['server']}/bin/python", "-I", "-m", "jupyterlab", "--no-browser"],
            env=self.environment(),
            cwd=str(self.place.workspace.code),
        )
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
        return {
            **os.environ,
            "PATH": f"{environment}/bin{os.pathsep}{os.environ.get('PATH', '')}",
            "VIRTUAL_ENV": environment,
            "JUPYTER_TOKEN_FILE": str(place.token),
            "JUPYTER_CONFIG_DIR": str(place.config),
            "JUPYTER_RUNTIME_DIR": runtime_of(self.settings["socket"]),
            "JUPYTER_DATA_DIR": str(place.data),
            "JUPYTER_PATH": str(place.kernels),
            "JUPYTERLAB_SETTINGS_DIR": str(place.config / "lab"),
            "JUPYTERLAB_WORKSPACES_DIR": str(place.data / "lab"),
            "IPYTHONDIR": str(place.data / "ipython"),
        }

    def look(self) -> None:
        try:
            status = self.client.ask("/api/status")
            sessions = self.client.ask("/api/sessions?no_track_activity=1")
            kernels = rules.kernels_of(self.client.ask("/api/kernels?no_track_activity=1"), sessions, self.idle)
            terminals = self.client.ask("/api/terminals?no_track_activity=1")
        except (OSError, KeyError, TypeError, ValueError) as error:
            print(f"[flexrack] the server of notebooks was not understood: {error}", flush=True)
            return
        now = time.time()
        for kernel in rules.overdue(kernels, now):
            self.end_kernel(kernel)
            kernels.remove(kernel)
        end = rules.server_end(status, kernels, len(terminals), self.idle, self.settings.get("end_at"))
        self.tell(ready=True, kernels=kernels, ends_at=end["at"], ends_why=end["why"])
        if end["at"] is not None and end["at"] <= now:
            self.note("the notebook", end["why"])
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
