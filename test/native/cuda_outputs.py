"""What CUDA programs print on a GPU in software of their own. test_cuda_programs.py runs them and keeps it, by the
content of program and driver: what compares it with GPUs that are elsewhere need not run them again.
"""

import hashlib
import json
import os
from functools import lru_cache

from servers import BUILD

DRIVER = BUILD / "drivers" / "sim"
FOLDER = BUILD / "outputs"
MEMORY = 4 << 30
# Those that move most, or wait most: they are tried with both runtime libraries, and over each transport.
MOVING = [
    "async_alloc",
    "blocking_copies",
    "callbacks",
    "cnn_step",
    "copies",
    "expandable",
    "graph_driver",
    "graph_memory",
    "graphs",
    "host_turns",
    "large_copies",
    "managed_memory",
    "many_launches",
    "pinned_mapped",
    "printf_assert",
    "streams_events",
    "two_threads",
    "vmm",
]


def alone(devices=1):
    """The device of a program that runs by itself, as settings of sim_env."""
    return {"memory": str(MEMORY), "devices": devices}


def keep(program, settings, code, out, err):
    FOLDER.mkdir(exist_ok=True)
    place = _place(program, settings)
    work = place.with_suffix(f".{os.getpid()}")
    work.write_text(json.dumps([code, out, err]))
    os.replace(work, place)


def kept(program, settings):
    """(code, out, err), or None where nobody has run it."""
    try:
        return tuple(json.loads(_place(program, settings).read_text()))
    except FileNotFoundError:
        return None


def _place(program, settings):
    whole = f"{_digest(program)} {_digest(DRIVER / 'libcuda.so.1')} {sorted(settings.items())}"
    return FOLDER / f"{program.parent.name}-{program.name}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}.json"


@lru_cache(None)
def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
