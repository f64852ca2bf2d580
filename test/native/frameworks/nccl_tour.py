"""NCCL between two processes that it takes for two machines: collectives over sockets, as between nodes of a rack. Each
sum beside numpy's. Attached, each rank's device is at another daemon, where NCCL is; NCCL_TOUR_LOGS names the folder
with what it says there.
"""

import ctypes
import glob
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from driver import Driver
from stops import Tour

SIZE = 20011
RANKS = 2
SUM, MAX = 0, 2
FLOAT, INT = 7, 2
SECONDS = 900


class Id(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 128)]


def own_folder():
    """Of the library of the wheel."""
    import nvidia.nccl

    return Path(glob.glob(f"{next(iter(nvidia.nccl.__path__))}/lib/libnccl.so.2")[0]).parent


class Nccl:
    def __init__(self):
        # By its name, as whatever is linked with it has it.
        self.library = ctypes.CDLL("libnccl.so.2")
        self.library.ncclGetErrorString.restype = ctypes.c_char_p

    def call(self, name, *words):
        result = getattr(self.library, name)(*words)
        if result != 0:
            raise RuntimeError(f"{name}: {self.library.ncclGetErrorString(result).decode()}")

    def meet(self, rank, file):
        """A communicator. The first writes down how it is found; the other waits for that."""
        found = Id()
        if rank == 0:
            self.call("ncclGetUniqueId", ctypes.byref(found))
            file.with_suffix(".new").write_bytes(bytes(found))
            file.with_suffix(".new").rename(file)
        else:
            began = time.monotonic()
            while not file.exists():
                if time.monotonic() - began > SECONDS:
                    raise TimeoutError("the first rank wrote no id")
                time.sleep(0.05)
            found = Id.from_buffer_copy(file.read_bytes())
        made = ctypes.c_void_p()
        self.call("ncclCommInitRank", ctypes.byref(made), RANKS, found, rank)
        return made

    def split(self, group, color, key):
        made = ctypes.c_void_p()
        self.call("ncclCommSplit", group, color, key, ctypes.byref(made), None)
        return made

    def number(self, name, group):
        found = ctypes.c_int()
        self.call(name, group, ctypes.byref(found))
        return found.value


def values(rank, seed, dtype=np.float32, size=SIZE):
    return (np.random.default_rng(100 * seed + rank).standard_normal(size) * 100).astype(dtype)


def compute(rank, file):
    """What this rank has after each collective, in their order."""
    driver, nccl = Driver(rank), Nccl()
    group = nccl.meet(rank, file)
    count, results = ctypes.c_size_t(SIZE), []

    def run(call, sent, like):
        into = driver.put(np.zeros_like(like))
        call(ctypes.c_uint64(driver.put(sent)), ctypes.c_uint64(into))
        driver.call("cuCtxSynchronize")
        results.append(driver.get(into, like))

    one = values(rank, 1)
    for turn in range(5):
        run(lambda a, b: nccl.call("ncclAllReduce", a, b, count, FLOAT, SUM, group, None), values(rank, 10 + turn), one)
    whole = values(rank, 2, np.int32)
    run(lambda a, b: nccl.call("ncclAllReduce", a, b, count, INT, MAX, group, None), whole, whole)
    run(lambda a, b: nccl.call("ncclBroadcast", a, b, count, FLOAT, 1, group, None), one, one)
    run(lambda a, b: nccl.call("ncclReduce", a, b, count, FLOAT, SUM, 0, group, None), values(rank, 3), one)
    run(
        lambda a, b: nccl.call("ncclAllGather", a, b, count, FLOAT, group, None),
        values(rank, 4),
        np.zeros(2 * SIZE, np.float32),
    )
    run(
        lambda a, b: nccl.call("ncclReduceScatter", a, b, count, FLOAT, SUM, group, None),
        values(rank, 5, size=2 * SIZE),
        one,
    )

    def exchange(a, b):
        nccl.call("ncclGroupStart")
        nccl.call("ncclSend", a, count, FLOAT, 1 - rank, group, None)
        nccl.call("ncclRecv", b, count, FLOAT, 1 - rank, group, None)
        nccl.call("ncclGroupEnd")

    run(exchange, values(rank, 6), one)
    # The other way around, so that rank 1 is the first; and each alone, one of them in none.
    turned, alone = nccl.split(group, 0, -rank), nccl.split(group, -1 if rank == 0 else 3, 0)
    results.append(np.array([nccl.number("ncclCommUserRank", turned), alone.value is None]))
    run(lambda a, b: nccl.call("ncclBroadcast", a, b, count, FLOAT, 0, turned, None), values(rank, 7), one)
    for made in (turned, *([alone] if alone else []), group):
        nccl.call("ncclCommDestroy", made)
    return results


def expected(rank):
    both = lambda seed, **more: sum(values(each, seed, **more) for each in range(RANKS))  # noqa: E731
    yield from (("AllReduce", both(10 + turn)) for turn in range(5))
    yield "AllReduce of the largest", np.maximum(values(0, 2, np.int32), values(1, 2, np.int32))
    yield "Broadcast", values(1, 1)
    yield "Reduce", both(3) if rank == 0 else np.zeros(SIZE, np.float32)
    yield "AllGather", np.concatenate([values(each, 4) for each in range(RANKS)])
    yield "ReduceScatter", both(5, size=2 * SIZE)[rank * SIZE : (rank + 1) * SIZE]
    yield "Send and Recv", values(1 - rank, 6)
    yield "CommSplit", np.array([1 - rank, rank == 0])
    yield "Broadcast in what a split has made", values(1, 7)


def main():
    tour = Tour()
    with tempfile.TemporaryDirectory(prefix="nccl-") as folder:
        file = Path(folder) / "id"
        # Machines of their own, by name: else NCCL shares memory between them.
        ranks = [
            subprocess.Popen(
                [sys.executable, __file__, str(rank), str(file)],
                env={
                    **os.environ,
                    "LD_LIBRARY_PATH": f"{os.environ['LD_LIBRARY_PATH']}:{own_folder()}",
                    "NCCL_HOSTID": f"machine-{rank}",
                    "NCCL_SOCKET_IFNAME": "lo",
                    "NCCL_DEBUG": "INFO",
                    "NCCL_IB_DISABLE": "1",
                    "NCCL_DEBUG_FILE": f"{folder}/log-{rank}",
                },
            )
            for rank in range(RANKS)
        ]
        codes = [one.wait(SECONDS) for one in ranks]
        tour.says("both ranks end well", codes == [0] * RANKS, str(codes))
        logs = "".join(
            one.read_text(errors="replace") for one in Path(os.environ.get("NCCL_TOUR_LOGS", folder)).glob("log-*")
        )
        tour.says("over sockets", "via NET/Socket" in logs, logs[-3000:])
        if codes == [0] * RANKS:
            for rank in range(RANKS):
                with np.load(f"{file}-{rank}.npz") as found:
                    for number, (name, value) in enumerate(expected(rank)):
                        tour.same(f"{name}, rank {rank}", found[f"arr_{number}"], value)
    tour.end()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        rank, file = int(sys.argv[1]), Path(sys.argv[2])
        np.savez(f"{file}-{rank}.npz", *compute(rank, file))
    else:
        main()
