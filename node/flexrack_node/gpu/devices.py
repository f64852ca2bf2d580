"""Whether there is anything to serve: the devices that flexrack-gpud finds, asked before a daemon is started."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Mapping

from flexrack_node.base.errors import NodeError

NO_DEVICES = 69  # exit codes of flexrack-gpud
LIBRARIES = ("driver", "nvml")  # fields of a GpuOrder, and options of gpud: files that were placed for it
TITLES = {
    "opencl": (
        "OpenCL",
        "sudo apt-get install ocl-icd-libopencl1, and the OpenCL driver of the device (pocl-opencl-icd makes one of the CPU)",
    ),
    "cuda": ("CUDA", "install NVIDIA's driver, or try it out without a GPU: flexrack gpu serve --backend sim"),
    "sim": ("simulated CUDA", None),
}


def backend_options(folder: Path, given: Mapping[str, Any]) -> List[str]:
    """What gpud serves, as its command line has it; libraries that we bring along lie beside it."""
    brought = [
        word
        for name in LIBRARIES
        if given.get(name)
        for word in (f"--{name}", str(folder / "program" / Path(given[name]).name))
    ]
    simulated = [
        word for name, value in sorted((given.get("sim") or {}).items()) for word in (f"--sim-{name}", str(value))
    ]
    return ["--backend", given["backend"], *brought, *simulated]


def check_devices(folder: Path, given: Mapping[str, Any]) -> None:
    """Before anything is started, which would only be started again and again."""
    program = folder / "program" / Path(given["program"]).name
    title, hint = TITLES.get(given["backend"], (given["backend"], None))
    try:
        done = subprocess.run(
            [str(program), "devices", *backend_options(folder, given)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, **(given.get("env") or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError("GPU_FAILED", f"the devices of this machine cannot be listed: {error}") from error
    said = refusal(done.stdout) or done.stderr.strip()[-500:]
    if done.returncode == NO_DEVICES or (done.returncode == 0 and not listed(done.stdout)):
        raise NodeError(
            "GPU_FAILED", f"there is no {title} device on this machine{f' ({said})' if said else ''}", hint, said=said
        )
    if done.returncode != 0:
        raise NodeError(
            "GPU_FAILED", f"the devices of this machine cannot be listed (status {done.returncode})", None, said=said
        )


def listed(text: str) -> List[Any]:
    """The devices that `flexrack-gpud devices` told of; an OpenCL library without any driver is none."""
    found: List[Any] = reported(text).get("ok", {}).get("devices", [])
    return found


def refusal(text: str) -> str:
    found: str = reported(text).get("error", {}).get("message", "")
    return found


def reported(text: str) -> Dict[str, Any]:
    """The last line: a driver may print before."""
    try:
        found: Dict[str, Any] = json.loads(text.strip().splitlines()[-1])
        return found
    except (ValueError, IndexError):
        return {}
