"""Answers whoever asks a rank what its process groups have queued: torch's flight recorder, which knows that also of
collectives in C++ and of NCCL's.

A thread waits in read(2) on a FIFO, without the GIL and without any cost, and writes the recorder's JSON beside the
progress file when a byte comes. It is started once there is a process group: such a process has threads already, so
forking it is no different from before. In a rank that never lets go of the GIL it does not answer.
"""

import os
import threading

ASK, ANSWER = ".ask", ".flight"  # instead of .progress


def answer(progress_path):
    """Starts the thread, where this torch has a recorder. Raises OSError where there can be no FIFO."""
    from torch._C import _distributed_c10d as c10d

    sources = [getattr(c10d, name) for name in ("_dump_fr_trace_json", "_dump_nccl_trace_json") if hasattr(c10d, name)]
    if not sources:
        return
    stem = progress_path[: -len(".progress")]
    try:
        os.mkfifo(stem + ASK, 0o600)
    except FileExistsError:
        pass
    fd = os.open(stem + ASK, os.O_RDWR)  # for writing too, so that reading it never ends
    threading.Thread(target=_loop, args=(fd, sources, stem + ANSWER), name="flexrack-flight", daemon=True).start()


def _loop(fd, sources, path):
    while os.read(fd, 4096):
        try:
            texts = []
            for source in sources:
                text = source(True, True)
                texts.append(text.decode() if isinstance(text, bytes) else text)
            with open(path + ".new", "w") as file:
                file.write("[" + ",".join(texts) + "]")
            os.replace(path + ".new", path)
        except Exception:  # nobody is harmed where there is no answer
            pass
