"""What a run leaves goes to its buckets: started by the supervisor when the ranks of a node have
ended well, and the run is not over before it is.

    uploader RUN_FOLDER ATTEMPT      exit 0: all of it is there, and was compared
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, List

from flexrack_node.base.errors import NodeError
from flexrack_node.base.stored import write
from flexrack_node.bucket import copying, remotes, tool
from flexrack_node.bucket.rclone import Rclone
from flexrack_node.run.files import RunFolder

if TYPE_CHECKING:
    from flexrack_node.schema.result import UploadDone


def main(arguments: List[str]) -> int:
    os.umask(0o077)
    folder, attempt = RunFolder(Path(arguments[0])), int(arguments[1])
    spec: Any = folder.spec()
    note = folder.attempt(attempt) / "upload.json"
    done: List[UploadDone] = []
    write("run.upload", note, {"status": "running", "uploads": [], "why": None})
    try:
        root = next(one for one in folder.path.parents if one.name == "runs").parent
        conf = remotes.of_run(folder.path)
        if not conf.exists():
            raise NodeError("NOT_FOUND", "the access to its remotes is not on this node any more")
        rclone = Rclone(tool.need(root), conf)
        for one in spec.get("uploads") or []:
            done.append(copying.upload(rclone, one, folder.outputs, spec["run"], lambda *_: None))
    except (NodeError, OSError) as error:
        why = error.message if isinstance(error, NodeError) else str(error)
        write("run.upload", note, {"status": "failed", "uploads": done, "why": why})
        print(f"flexrack: {why}", file=sys.stderr)
        return 1
    write("run.upload", note, {"status": "done", "uploads": done, "why": None})
    return 0
