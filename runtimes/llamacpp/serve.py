"""llama.cpp's own server for one model: `serve.py FILE NAME HOST PORT INNER`, where FILE is GGUF.

The same as `llama-server --model FILE --alias NAME`, in this process. It speaks OpenAI's API; its pages, slots and
properties are closed. A model that says how its tokens are pooled gives embeddings, too. Each file adapters/*.gguf beside
it is a LoRA adapter, which callers name as their model: then llama.cpp listens on the port INNER, and adapters.py stands
in front of it. Ends on SIGTERM.
"""

import asyncio
import signal
import sys
import threading
from pathlib import Path
from typing import List, Tuple

import xllamacpp
from adapters import Front
from gguf import context_of, free_memory, read_counts

GRACE = 10  # seconds for what has begun, once the server is to end
AT_ONCE = 4  # requests that are decoded together; the others wait in the server


def main(file: str, name: str, host: str, port: int, inner: int) -> None:
    adapters = sorted(Path(file).parent.glob("adapters/*.gguf"))
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {name}
    params.hostnames = [host]
    params.port = inner if adapters else port
    params.n_parallel = AT_ONCE
    counts = read_counts(file)
    params.n_ctx = context_of(counts, AT_ONCE, free_memory())
    params.kv_unified = True  # no request needs more than the model knows, and none has less while the others leave it
    # none of them is on by itself: each request says which one it wants
    params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(one), 0.0) for one in adapters]
    if counts.get("pooling_type"):
        params.embedding = True
        params.n_ubatch = params.n_batch  # a text has to fit in one
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server = xllamacpp.Server(params)
    # the port was taken meanwhile: it is not this one's
    if server.listening_address != f"http://{host}:{params.port}":
        raise SystemExit(f"llama.cpp listens on {server.listening_address}")
    if adapters and not ended.is_set():
        asyncio.run(stand_before((host, inner), name, adapters, host, port))
    else:
        ended.wait()
    del server


async def stand_before(inner: Tuple[str, int], name: str, adapters: List[Path], host: str, port: int) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await Front(inner, name, [one.stem for one in adapters]).serve(host, port, ended, GRACE)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
