"""One rank of an all-reduce over memory that is filled on the device: python3 nccl_rank.py RANK ID_FILE MIB TIMES. Prints
how it went; TIMES 0 goes on until a call fails.
"""

import ctypes
import sys
import time
from pathlib import Path

import numpy as np
from driver import Driver
from nccl_tour import FLOAT, SUM, Nccl


def main(rank, file, mib, times):
    driver, nccl = Driver(rank), Nccl()
    group, count = nccl.meet(rank, Path(file)), mib << 18
    at = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(4 * count))
    driver.call("cuMemsetD32_v2", at, ctypes.c_uint(np.float32(rank + 1).view(np.uint32)), ctypes.c_size_t(count))
    print("meets", flush=True)
    done = 0
    try:
        while times == 0 or done < times:
            nccl.call("ncclAllReduce", at, at, ctypes.c_size_t(count), FLOAT, SUM, group, None)
            driver.call("cuCtxSynchronize")
            done += 1
            if done == 1:
                print("computes", flush=True)
    except RuntimeError as error:
        state = ctypes.c_int()
        nccl.library.ncclCommGetAsyncError(group, ctypes.byref(state))
        print(f"fails {time.time()} {state.value} {error}", flush=True)
        nccl.library.ncclCommAbort(group)
        return
    # 1 + 2, and twice as much each time; the ends and the middle of what is there.
    for place in (0, count // 2, count - 1):
        value = driver.get(at.value + 4 * place, np.zeros(1, np.float32))[0]
        if value != 3 * 2 ** (times - 1):
            sys.exit(f"{value} at {place}")
    nccl.call("ncclCommDestroy", group)
    print(f"reduces {times}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
