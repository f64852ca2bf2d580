"""GPUs for kernels in a sandbox, from outside of it: whoever reaches the GPU daemon's admin socket could lease whatever
is free, so kernels ask here for what the notebook was started for, and nothing else.

Who asks (notebook/ask_gpus.py) becomes the kernel. Its leases are held here until that process is gone, however it
ended, and at the latest until this one is: who holds them waits for the end of its input.
"""

import contextlib
import io
import json
import os
import select
import shutil
import socket
import struct
import threading
from pathlib import Path
from typing import Any, Dict, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import or_nothing, read
from flexrack_node.gpu.gather import gather
from flexrack_node.gpu.gathered import deliver
from flexrack_node.gpu.lease import LeaseHold
from flexrack_node.notebook.folder import NotebookFolder
from flexrack_node.notebook.passage import Passage

_MOST = 32  # kernels that ask or hold at once
_ASKING_SECONDS = 10.0
_END_SECONDS = 12.0  # LeaseHold takes up to 8


class Broker:
    def __init__(self, place: NotebookFolder, environments: Path) -> None:
        """Listens from now on, until `close`. Raises OSError."""
        self.place = place
        self.channel = Channel(place.root, environments, io.BytesIO())
        order = or_nothing(read("notebook.settings", place.settings)).get("order")
        isolate = or_nothing(order).get("isolate")
        self.is_cut_off = isolate is not None and isolate["network"] == "none"
        self.free = threading.Semaphore(_MOST)
        self.threads: List[threading.Thread] = []
        for folder in (place.leases, place.links()):
            shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
            folder.mkdir(mode=0o700)
        path = place.grants()
        path.unlink(missing_ok=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(str(path))
        os.chmod(path, 0o600)
        self.socket.listen(_MOST)
        self.over, self.ends = os.pipe()
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Gives back what is held."""
        os.close(self.ends)
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(_END_SECONDS)
        self.socket.close()
        self.place.grants().unlink(missing_ok=True)

    def _listen(self) -> None:
        while True:
            try:
                link, _ = self.socket.accept()
            except OSError:
                return
            if not self.free.acquire(blocking=False):
                link.close()
                continue
            self.threads = [one for one in self.threads if one.is_alive()]
            thread = threading.Thread(target=self._serve, args=(link,), daemon=True)
            self.threads.append(thread)
            thread.start()

    def _serve(self, link: socket.socket) -> None:
        try:
            with link:
                link.settimeout(_ASKING_SECONDS)
                pid = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
                kernel = os.pidfd_open(pid)
                try:
                    self._grant(link, kernel)
                finally:
                    os.close(kernel)
        except OSError as error:
            print(f"[flexrack] a kernel was given no GPU: {error}", flush=True)
        finally:
            self.free.release()

    def _grant(self, link: socket.socket, kernel: int) -> None:
        hold = None
        passages: List[Passage] = []
        try:
            try:
                held = self._lease(passages)
                hold = LeaseHold(held)
                hold.take()
            except (NodeError, OSError, ValueError, KeyError) as error:
                text = error.message if isinstance(error, NodeError) else str(error)
                print(f"[flexrack] no GPU for a kernel: {text}", flush=True)
                link.sendall(json.dumps({"error": text}).encode())
                return
            link.sendall(json.dumps({"env": held["env"], "libraries": held["libraries"]}).encode())
            link.close()
            select.select([kernel, self.over], [], [])
        finally:
            if hold:
                hold.give_back()  # through its passages, if it has some
            for one in passages:
                one.close()
            if hold:
                for link_of in self.place.links().glob(f"{Path(held['folder']).name[:8]}-*"):
                    link_of.unlink(missing_ok=True)

    def _lease(self, passages: List[Passage]) -> Any:
        """As with_gpus delivers it, but where this sandbox sees it, with the daemon's socket beside it."""
        wish = json.loads((self.place.path / "gpus.json").read_text())
        gathered = gather(wish, f"notebook {self.place.project}", self.channel)
        try:
            return self._placed(deliver(wish, gathered, self.channel), passages)
        except BaseException:
            gathered.give_back()
            raise

    def _lead(self, server: Dict[str, Any], path: Path, passages: List[Passage]) -> None:
        """The daemon's own socket by a name that the sandbox sees, where both are on this machine. A sandbox without
        network gets a passage to any other, also to one that is to be spoken with by TLS or TCP.
        """
        by_network = server["transport"] in ("tls", "tcp")
        server["unix"] = linked("" if by_network else server["unix"], path)
        if not server["unix"] and self.is_cut_off:
            passages.append(Passage(path, server["address"], server["port"]))
            server.update(unix=str(path), address="", boot_id="")

    def _placed(self, placed: Dict[str, Any], passages: List[Passage]) -> Any:
        folder = self.place.leases / Path(placed["folder"]).name
        os.rename(placed["folder"], folder)
        held: Dict[str, Any] = json.loads(json.dumps(placed).replace(placed["folder"], str(folder)))
        try:
            self._check(held)
            content = json.loads(Path(held["file"]).read_text())
            for number, server in enumerate(content["servers"]):
                self._lead(server, self.place.links() / f"{folder.name[:8]}-{number}", passages)
            Path(held["file"]).write_text(json.dumps(content))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return held

    def _check(self, held: Dict[str, Any]) -> None:
        """Whether the image's programs can load our drivers. Raises NODE_UNFIT."""
        order = or_nothing(read("notebook.settings", self.place.settings)).get("order")
        if order and order.get("image") and held["libraries"]:
            from flexrack_node.image.prepare import check_drivers
            from flexrack_node.image.store import ImageStore

            store = ImageStore(self.place.root)
            kept = store.need(order["image"])
            check_drivers([str(store.layer(one)) for one in kept["layers"]], held["libraries"])


def linked(socket_path: str, link: Path) -> str:
    """The daemon's socket by a name of its own: its folder has the admin socket, too. Empty where no link can be made,
    as that folder is on another file system: then the daemon's address leads there.
    """
    if not socket_path:
        return ""
    try:
        os.link(socket_path, link)
    except OSError:
        return ""
    return str(link)
