"""What editors have left in this account's home: servers that VS Code and others put on a node when they connect to it,
hundreds of MB a version.

Where each keeps its own, as of the versions of 2026: ~/.vscode-server (also for its insiders), ~/.cursor-server,
~/.windsurf-server, ~/.zed_server, ~/.cache/JetBrains/RemoteDev.
"""

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, List, Tuple

from flexrack_node.base.channel import Channel
from flexrack_node.base.errors import NodeError

if TYPE_CHECKING:
    from flexrack_node.schema.workspace import EditorLeft, EditorsLeft, EditorsQuestion

PLACES = {
    "vscode": (".vscode-server", ".vscode-server-insiders"),
    "cursor": (".cursor-server",),
    "windsurf": (".windsurf-server",),
    "zed": (".zed_server", ".local/share/zed/server_state"),
    "jetbrains": (".cache/JetBrains/RemoteDev",),
}


def editors(request: "EditorsQuestion", _channel: Channel) -> "EditorsLeft":
    """{remove?: [editor]} -> {editors: [{editor, path, bytes, processes, removed}]}. Errors: CONFLICT where one to be
    removed still runs.
    """
    found = [look(editor, path) for editor, path in places()]
    wanted = request.get("remove") or []
    for one in found:
        if one["editor"] in wanted and one["processes"]:
            raise NodeError(
                "CONFLICT",
                f"{one['editor']} still runs here ({len(one['processes'])} processes)",
                "close its window first; it ends by itself some minutes later",
                processes=one["processes"],
            )
    for one in found:
        if one["editor"] in wanted:
            shutil.rmtree(one["path"], ignore_errors=True)
            one["removed"] = not os.path.lexists(one["path"])
    return {"editors": found}


def places() -> "List[Tuple[str, Path]]":
    """Real folders of this account alone: a link may lead to what others use."""
    home = Path(os.path.expanduser("~"))
    return [
        (editor, home / name)
        for editor, names in PLACES.items()
        for name in names
        if (home / name).is_dir() and not (home / name).is_symlink()
    ]


def look(editor: str, path: Path) -> "EditorLeft":
    size = 0
    for at, _folders, files in os.walk(path):
        for name in files:
            try:
                size += os.lstat(os.path.join(at, name)).st_blocks * 512
            except OSError:
                pass
    known: Any = editor
    return {"editor": known, "path": str(path), "bytes": size, "processes": running(path), "removed": False}


def running(path: Path) -> List[int]:
    """Processes of this account whose program or first script lies there."""
    found = []
    start = f"{path}/"
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if os.stat(f"/proc/{name}").st_uid != os.getuid():
                continue
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read(8192).decode(errors="replace").split("\0")
            if os.readlink(f"/proc/{name}/exe").startswith(start) or any(word.startswith(start) for word in words[:3]):
                found.append(int(name))
        except OSError:
            continue
    return found
