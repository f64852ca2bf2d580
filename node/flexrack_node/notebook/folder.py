"""Where the notebook of a workspace keeps what is its own.

    <root>/notebooks/<project>/settings.json   what it was started with
                              /state.json      what its keeper saw last (notebook/keeper.py)
                              /token           0600, without a line end: Jupyter takes the file as it is
                              /config, data, kernels    Jupyter's own
                              /leases  of GPUs, of kernels in a sandbox: a folder each
    <root>/s/<8 hex>                           the socket
    <root>/s/<8 hex>.d/                        Jupyter's runtime folder, with the sockets of kernels
    <root>/s/<8 hex>.g                         where kernels in a sandbox ask for GPUs
    <root>/s/<8 hex>.l/                        sockets of the GPU daemon, by names of theirs

Where the root is too long for a socket's path, the sockets are in a folder of this user below /tmp
(base/short_socket.py).
"""

import secrets
from pathlib import Path

from flexrack_node.base.installed import record
from flexrack_node.base.short_socket import short_socket
from flexrack_node.base.stored import replace_file
from flexrack_node.workspace.folder import WorkspaceFolder

_KERNEL = "kernel-00000000-0000-0000-0000-000000000000-ipc-10"  # the longest name of a kernel's socket
SERVICE = "notebook-"  # and the project: the id of the service
GRANTS = "/tmp/.flexrack-gpus"  # in a sandbox: where its kernels ask for GPUs


class NotebookFolder:
    """Paths only; makes nothing by itself."""

    def __init__(self, root: Path, project: str) -> None:
        self.workspace = WorkspaceFolder(root, project)
        self.project = project
        self.service = f"{SERVICE}{project}"
        self.root = root
        self.path = root / "notebooks" / project
        self.settings = self.path / "settings.json"
        self.state = self.path / "state.json"
        self.token = self.path / "token"
        self.config = self.path / "config"
        self.data = self.path / "data"
        self.kernels = self.path / "kernels"
        self.leases = self.path / "leases"

    def make(self) -> None:
        """The folders, 0700 whatever was there before, and a token where there is none."""
        record(self.root, self.path, "notebook")
        for folder in (
            self.path,
            self.config,
            self.data,
            self.kernels,
            self.leases,
            Path(runtime_of(str(self.socket()))),
        ):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.chmod(0o700)
        if not self.token.exists():
            replace_file(self.token, secrets.token_hex(24))

    def socket(self) -> Path:
        """The same for as long as the notebook is there. Errors: those of short_socket."""
        return short_socket(self.root, self.path, beside=f".d/{_KERNEL}")

    def grants(self) -> Path:
        """The socket by which kernels in a sandbox ask for GPUs. Errors: those of short_socket."""
        return Path(f"{self.socket()}.g")

    def links(self) -> Path:
        """Sockets that kernels in a sandbox may reach. Errors: those of short_socket."""
        return Path(f"{self.socket()}.l")


def runtime_of(socket: str) -> str:
    """Jupyter's runtime folder. jpserver-PID-open.html in it is 0644 and holds the token, so the folder is 0700."""
    return f"{socket}.d"
