"""Which GPU drivers this machine has. They are tried in a process of its own, this file run as a program: a driver may
hang, crash, or start threads.
"""

import ctypes
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from flexrack_node.schema.gpu import DriverFound, FoundDrivers


TIMEOUT_SECONDS = 60
CUDA, OPENCL = "libcuda.so.1", "libOpenCL.so.1"


def look(env: Dict[str, str]) -> "FoundDrivers":
    """{cuda: {found, why}, opencl: {found, why}}; OpenCL only where there is no CUDA. `env`: what the daemon would have
    besides.
    """
    cuda = ask("cuda", env)
    return {"cuda": cuda} if cuda["found"] else {"cuda": cuda, "opencl": ask("opencl", env)}


def ask(api: str, env: Dict[str, str]) -> "DriverFound":
    name = CUDA if api == "cuda" else OPENCL
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", os.path.abspath(__file__), api],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
            env={**os.environ, **env},
        )
        found: DriverFound = json.loads(done.stdout.splitlines()[-1])  # a driver may print before us
        return found
    except subprocess.TimeoutExpired:
        return {"found": False, "why": f"{name} does not answer in {TIMEOUT_SECONDS} s"}
    except (OSError, ValueError, IndexError):
        return {"found": False, "why": f"{name} crashes when it is asked for devices"}


def answer(found: bool, why: str) -> "DriverFound":
    return {"found": found, "why": why}


def load(name: str) -> Any:
    """The library, or why there is none."""
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        return f"there is no {name}" if "No such file" in str(error) else f"{name} cannot be loaded: {error}"


def ask_cuda() -> "DriverFound":
    library = load(CUDA)
    if isinstance(library, str):
        return answer(False, library)
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        if "/libflexrack-cuda" in maps.read():
            return answer(False, f"{CUDA} is flexrack's own, for GPUs of other machines")
    status, count = library.cuInit(0), ctypes.c_int(0)
    if status == 0:
        status = library.cuDeviceGetCount(ctypes.byref(count))
    if status != 0:
        text = ctypes.c_char_p()
        library.cuGetErrorName(status, ctypes.byref(text))
        return answer(
            False, f"{CUDA} says {text.value.decode('ascii', 'replace') if text.value else f'error {status}'}"
        )
    return answer(count.value > 0, f"{CUDA} has {devices(count.value)}")


def ask_opencl() -> "DriverFound":
    library = load(OPENCL)
    if isinstance(library, str):
        return answer(False, library)
    count = ctypes.c_uint(0)
    library.clGetPlatformIDs(0, None, ctypes.byref(count))
    platforms = (ctypes.c_void_p * count.value)()
    library.clGetPlatformIDs(count, platforms, None)
    found = 0
    for platform in platforms:
        name = ctypes.create_string_buffer(256)
        # CL_PLATFORM_NAME
        library.clGetPlatformInfo(ctypes.c_void_p(platform), 0x0902, ctypes.c_size_t(255), name, None)
        own = ctypes.c_uint(0)
        # CL_DEVICE_TYPE_ALL. A daemon does not serve what it would get from daemons.
        if (
            name.value != b"Flexrack"
            and library.clGetDeviceIDs(
                ctypes.c_void_p(platform), ctypes.c_ulong(0xFFFFFFFF), 0, None, ctypes.byref(own)
            )
            == 0
        ):
            found += own.value
    return answer(found > 0, f"OpenCL has {devices(found)}")


def devices(count: int) -> str:
    return "no device" if count == 0 else "1 device" if count == 1 else f"{count} devices"


if __name__ == "__main__":
    print(json.dumps(ask_cuda() if sys.argv[1] == "cuda" else ask_opencl()), flush=True)
    os._exit(0)  # nothing more of the driver: some crash when they are unloaded
