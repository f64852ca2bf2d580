"""Where the history of a workspace is on this node. It outlives the workspace.

<root>/history/<project>/settings.json   what `workspace.autosave` asked for last
                        /state.json      what was saved last, and what failed
                        /codes.json      snapshots of what runs have run, by the digest of their code
                        /key             0600: the repository's password
                        /repository/     restic's
                        /cache/          restic's
                        /restored/       what was restored, each in a folder of its own
                        /lock            held while the repository is changed, also by the restic that does
<root>/history/.restic/<sha256>/restic   where the node has none of its own
"""

import os
import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Optional, cast

from flexrack_node.base.errors import NodeError
from flexrack_node.base.installed import record
from flexrack_node.base.stored import or_nothing, read, replace_file, write
from flexrack_node.workspace.folder import WorkspaceFolder

if TYPE_CHECKING:
    from flexrack_node.schema.history import HistorySettings, HistoryState

SERVICE = "history-"  # and the project: the id of the service


class HistoryFolder:
    """Paths, and the small files. Makes nothing by itself."""

    def __init__(self, root: Path, project: Any) -> None:
        self.workspace = WorkspaceFolder(root, project)
        self.root, self.project = root, self.workspace.project
        self.service = f"{SERVICE}{self.project}"
        self.path = root / "history" / self.project
        self.settings_file = self.path / "settings.json"
        self.state_file = self.path / "state.json"
        self.codes_file = self.path / "codes.json"
        self.key = self.path / "key"
        self.repository = self.path / "repository"
        self.cache = self.path / "cache"
        self.restored = self.path / "restored"
        self.lock = self.path / "lock"

    def make(self) -> None:
        """The folder, 0700, and a key where there is neither key nor repository. Errors: CONFLICT where the key is
        lost.
        """
        record(self.root, self.path, "history")
        for folder in (self.path.parent, self.path):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.is_symlink():
                raise NodeError("CONFLICT", f"{folder} is a link; flexrack does not write through it", f"rm {folder}")
            folder.chmod(0o700)
        if not self.key.exists():
            if self.exists():
                raise self.key_lost()
            replace_file(self.key, secrets.token_hex(32))

    def exists(self) -> bool:
        return (self.repository / "config").exists()

    def check_saved(self) -> None:
        """NOT_FOUND where nothing was saved yet."""
        if not self.exists():
            raise NodeError(
                "NOT_FOUND",
                f"nothing of {self.project} was saved on this node yet",
                "set workspace.autosave in flexrack.yaml, then: flexrack workspace up",
            )

    def key_lost(self) -> NodeError:
        return NodeError(
            "CONFLICT",
            f"the key of the history of {self.project} is gone ({self.key}), and nothing reads it without",
            f"put it back, or begin anew: flexrack workspace history {'--anew'}",
        )

    def settings(self) -> "HistorySettings":
        return or_nothing(read("history.settings", self.settings_file))

    def is_on(self) -> bool:
        return self.settings().get("every") is not None

    def state(self) -> "HistoryState":
        return or_nothing(read("history.state", self.state_file))

    def tell(self, **changes: Any) -> None:
        write("history.state", self.state_file, cast(Any, {**self.state(), **changes}), durable=False)

    def codes(self) -> Dict[str, str]:
        return dict(or_nothing(read("history.codes", self.codes_file)).get("codes", {}))

    def write_codes(self, codes: Dict[str, str]) -> None:
        write("history.codes", self.codes_file, {"codes": codes})

    def has_snapshot(self, snapshot: str) -> bool:
        """Without asking restic: of each snapshot there is a file with its id as the name."""
        return bool(re.fullmatch(r"[0-9a-f]{64}", snapshot)) and (self.repository / "snapshots" / snapshot).exists()

    def whole_id(self, beginning: str) -> Optional[str]:
        """restic before 0.17 tells the first digits of a new snapshot only."""
        try:
            found = [name for name in os.listdir(self.repository / "snapshots") if name.startswith(beginning)]
        except OSError:
            return None
        return found[0] if len(found) == 1 else None
