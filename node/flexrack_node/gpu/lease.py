"""Holds the GPU leases of a run's ranks on this node for as long as the run lives: `leases` of the run's spec.

A lease lives while somebody holds it. flexrack-lease-keeper does, while the command that it runs lives; ours waits for
the end of its input, which comes when the supervisor says so, and as well when the supervisor is killed. So nothing
stays leased after the run, however it ends.
"""

import json
import os
import select
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Dict, Optional

from flexrack_node.base.errors import NodeError

if TYPE_CHECKING:
    from flexrack_node.schema.order import HeldLeases

HELD_SECONDS = 20.0  # for flexrack-lease-keeper to reach all daemons
_END_SECONDS = 8.0  # it gives the leases back within 3 s
_WAIT = ("sh", "-c", "echo held; exec cat >/dev/null")


class LeaseHold:
    """`take()` first; `lost()` tells whether they are gone; `give_back()` at the end, in any case."""

    def __init__(self, leases: "HeldLeases") -> None:
        """{keeper, file, folder, libraries, env}: as src/lib/gpu/run-leases.ts delivered it."""
        self._leases = leases
        self._process: Optional[subprocess.Popen[bytes]] = None

    def take(self) -> None:
        """Returns once all leases are held. Errors: GPU_UNAVAILABLE, with what flexrack-lease-keeper said."""
        argv = [self._leases["keeper"], "--end-with-lease", self._leases["file"], "--", *_WAIT]
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise NodeError(
                "GPU_UNAVAILABLE",
                f"the GPU leases cannot be held: {self._leases['keeper']}: {error.strerror}",
                "flexrack gpu leases",
            ) from error
        until = time.monotonic() + HELD_SECONDS
        output = self._process.stdout
        while output and time.monotonic() < until:
            if select.select([output], [], [], 0.2)[0]:
                if os.read(output.fileno(), 64).startswith(b"held"):
                    return
                break
        said = self._end()
        raise NodeError(
            "GPU_UNAVAILABLE",
            f"the GPU leases cannot be held: {said or f'no answer within {HELD_SECONDS:.0f} s'}",
            "flexrack gpu leases",
        )

    @property
    def pid(self) -> Optional[int]:
        return self._process.pid if self._process else None

    def lost(self) -> Optional[str]:
        """Why nothing may be started with these leases any more; None where they are held."""
        if self._process is None or self._process.poll() is not None:
            return "the GPU leases of this run have ended: the daemon was stopped, or they were released"
        return None

    def give_back(self) -> None:
        import shutil

        self._end()
        shutil.rmtree(self._leases["folder"], ignore_errors=True)

    def _end(self) -> str:
        """What it said on stderr, its last line."""
        process = self._process
        if process is None:
            return ""
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stderr and process.stdout  # both are pipes
        with process.stderr as errors, process.stdout:
            lines = errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


def leased_count(leases: "Optional[HeldLeases]") -> int:
    """GPUs of all daemons that the lease file names; 0 without one, or where it cannot be read: then it opens nothing."""
    if not leases:
        return 0
    try:
        servers = json.loads(Path(leases["file"]).read_text())["servers"]
        return sum(len(server["devices"]) for server in servers)
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def environment(leases: "HeldLeases", env: Dict[str, str]) -> Dict[str, str]:
    """`env` as programs need it that are to see the leased devices and no others, in the order of the ranks."""
    seen = {key: value for key, value in env.items() if key not in ("CUDA_VISIBLE_DEVICES", "OCL_ICD_FILENAMES")}
    seen.update(leases["env"])
    if leases.get("libraries"):
        seen["LD_LIBRARY_PATH"] = os.pathsep.join(
            part for part in (leases["libraries"], seen.get("LD_LIBRARY_PATH")) if part
        )
    return seen
