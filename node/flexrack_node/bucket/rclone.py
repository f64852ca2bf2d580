"""rclone as a child of ours. What it prints on stderr is lines of JSON: notices, which are no failure, errors, and how
far it is.

Facts: rclone.org/docs (exit codes; --use-json-log; --stats), rclone.org/commands/rclone_check.
"""

import ctypes
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from flexrack_node.base.errors import NodeError
from flexrack_node.bucket.remotes import secrets_in

NOT_THERE = (3, 4)  # exit codes: directory, file not found
_PR_SET_PDEATHSIG = 1
_CALM = [
    "--use-json-log",
    "--log-level",
    "NOTICE",
    "--stats",
    "1s",
    "--stats-log-level",
    "NOTICE",
    "--retries",
    "5",
    "--retries-sleep",
    "3s",
    "--low-level-retries",
    "10",
    "--contimeout",
    "20s",
    "--timeout",
    "2m",
]
_KEPT_LINES = 5

Progress = Callable[[int, int], None]  # bytes done, of all


class Done(NamedTuple):
    status: int
    out: str
    errors: List[str]  # the last ones, without what is secret

    def why(self) -> str:
        return self.errors[-1] if self.errors else f"rclone ended with {self.status}"


class Rclone:
    def __init__(self, program: str, conf: Path) -> None:
        self._program, self._conf = program, conf
        self._secrets = secrets_in(conf.read_text())

    def call(self, words: List[str], on_progress: Optional[Progress] = None) -> Done:
        """Ends with us, however we end."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("RCLONE_")}
        env["RCLONE_CONFIG"] = str(self._conf)
        try:
            child = subprocess.Popen(
                [self._program, *words, *_CALM],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                preexec_fn=_end_with_parent,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise NodeError("NODE_UNFIT", f"{self._program} does not start: {error.strerror}") from error
        errors: List[str] = []
        try:
            import threading

            out: List[str] = []
            reader = threading.Thread(
                target=lambda: out.append(child.stdout.read() if child.stdout else ""), daemon=True
            )
            reader.start()
            assert child.stderr is not None
            for line in child.stderr:
                told = _read(line)
                stats = told.get("stats")
                if isinstance(stats, dict) and on_progress:
                    on_progress(int(stats.get("bytes") or 0), int(stats.get("totalBytes") or 0))
                if told.get("level") in ("error", "critical", "fatal", None):
                    errors.append(self.clean(str(told.get("msg") or line).strip()))
                    del errors[:-_KEPT_LINES]
            status = child.wait()
            reader.join(5)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        return Done(status, "".join(out), [one for one in errors if one])

    def clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text[:500]

    def has_hashes(self, remote: str) -> bool:
        """Whether contents can be compared by hashes that the remote knows; else they are read once more for that."""
        done = self.call(["backend", "features", f"{remote.split(':')[0]}:"])
        try:
            return bool(json.loads(done.out).get("Hashes"))
        except ValueError:
            return False

    def size(self, remote: str) -> Dict[str, int]:
        """{count, bytes} of what is there. Raises NOT_FOUND, NODE_UNREACHABLE."""
        done = self.call(["size", "--json", remote])
        if done.status in NOT_THERE:
            raise NodeError("NOT_FOUND", f"there is nothing at {remote}: {done.why()}", "rclone lsf REMOTE:PATH")
        if done.status != 0:
            raise NodeError("NODE_UNREACHABLE", f"{remote} cannot be read: {done.why()}", "rclone lsf REMOTE:PATH")
        told = json.loads(done.out)
        if not told.get("count"):  # buckets have no folders: what nobody has put there is empty
            raise NodeError("NOT_FOUND", f"there is nothing at {remote}", "rclone lsf REMOTE:PATH")
        return {"count": int(told["count"]), "bytes": max(0, int(told["bytes"]))}


def _read(line: str) -> Dict[str, Any]:
    try:
        told = json.loads(line)
        return told if isinstance(told, dict) else {}
    except ValueError:
        return {}


def _end_with_parent() -> None:
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
