"""Where tinygrad finds the driver of CUDA and a compiler: told before it is imported."""

import os
import shutil


def tell():
    """This version looks for the driver in the system's folders only, unless it is told. What runs on the CPU is
    compiled by a compiler of C.
    """
    os.environ.setdefault("CUDA_PATH", f"{os.environ['LD_LIBRARY_PATH'].split(':')[0]}/libcuda.so.1")
    os.environ.setdefault("CC", next(filter(None, map(shutil.which, ["clang", "clang-15", "clang-14"])), "clang"))
