"""How a notebook gets into an image and into a sandbox: orders for image/enter.py.

In an image alone the server stays outside, with an environment that all projects share, and kernels and terminals are
inside. In a sandbox everything that somebody can reach through the server has to be inside, so the server itself is.
"""

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, List

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError
from flexrack_node.image.enter import enter_words
from flexrack_node.notebook.folder import GRANTS, NotebookFolder

if TYPE_CHECKING:
    from flexrack_node.schema.image import EnterOrder
    from flexrack_node.schema.notebook import NotebookWanted

# An image may have another shell than the account.
_SHELL = (
    "/bin/sh",
    "-c",
    'if [ -x "$SHELL" ]; then exec "$SHELL"; elif command -v bash >/dev/null 2>&1; then exec bash; fi; exec /bin/sh',
)
_TRIED = "import sys; sys.path.append(sys.argv[1]); import ipykernel.kernelapp"
_TRY_SECONDS = 60
_KEPT = ("VIRTUAL_ENV", "TERM", "FLEXRACK_WORKSPACE", "FLEXRACK_WORKSPACE_FOLDER")


def program_order(place: NotebookFolder, request: "NotebookWanted") -> "EnterOrder":
    """For one program in the image, with nothing else to keep it from the node: a terminal."""
    code = str(place.workspace.code)
    order: EnterOrder = {
        "read": [],
        "write": [code],
        "gpus": None,
        "cwd": code,
        "path": [f"{request['environment']}/bin"],
        "keep": [*request.get("keep", []), *_KEPT],
        "die": True,
    }
    if request.get("image"):
        order["image"] = request["image"]
    if request.get("volumes"):
        order["volumes"] = request["volumes"]
    return order


def kernel_order(place: NotebookFolder, request: "NotebookWanted") -> "EnterOrder":
    """Jupyter starts a kernel in its notebook's folder, and signals the group that it has made for it."""
    return {**program_order(place, request), "cwd": ".", "group": True}


def server_order(place: NotebookFolder, request: "NotebookWanted", channel: Channel) -> "EnterOrder":
    """The sandbox of all of it. Of the notebook's own folder it writes Jupyter's data alone: nobody outside reads that.
    The socket that the server listens on is opened outside (keeper.py), so that nothing else is ever in its place.
    """
    order = program_order(place, request)
    server = request["server"]
    order["isolate"] = request["isolate"]
    order["write"] = [*order["write"], str(place.data)]
    order["read"] = [
        server,
        str(Path(request["side"])),
        *([] if request.get("image") else python_of(server)),
        str(place.kernels),
        str(place.config),
        str(place.token),
    ]
    if request.get("gpus"):
        order["gpus"] = []
        order["read"] = [*order["read"], str(place.leases), str(place.links()), str(channel.root / "gpu" / "program")]
        order["over"] = [[str(place.grants()), GRANTS]]
    return order


def python_of(environment: str) -> List[str]:
    """The Python that an environment was made from, where it is not the system's: it may lie in a home."""
    base = str(Path(os.path.realpath(f"{environment}/bin/python")).parents[1])
    return [] if base in ("/", "/usr", "/usr/local") else [base]


def terminal_words(place: NotebookFolder, request: "NotebookWanted", channel: Channel) -> List[str]:
    return enter_words(channel.root, channel.environments, program_order(place, request), list(_SHELL))


def check_kernel(place: NotebookFolder, request: "NotebookWanted", side: Path, channel: Channel) -> None:
    """Raises NODE_UNFIT where the image lacks what a kernel needs: else every kernel would end at once, and only the
    log would say why.
    """
    words = [f"{request['environment']}/bin/python", "-c", _TRIED, str(side)]
    done = subprocess.run(
        enter_words(channel.root, channel.environments, program_order(place, request), words),
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=_TRY_SECONDS,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        raise NodeError(
            "NODE_UNFIT", f"no kernel runs in the image: {lines[-1]}", "take an image that has this", lines=lines[-10:]
        )
