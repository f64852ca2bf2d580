"""llama.cpp's own server for one model: `serve.py FILE NAME HOST PORT`, where FILE is GGUF.

The same as `llama-server --model FILE --alias NAME`, in this process. It speaks OpenAI's API; its pages, slots and
properties are closed. Ends on SIGTERM.
"""

import signal
import sys
import threading

import xllamacpp

AT_ONCE = 4  # requests that are decoded together; the others wait in the server


def main(file: str, name: str, host: str, port: int) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = file
    params.model_alias = {name}
    params.hostnames = [host]
    params.port = port
    params.n_parallel = AT_ONCE
    params.kv_unified = True  # one request may have the whole context, as long as the others leave it
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server = xllamacpp.Server(params)
    if server.listening_address != f"http://{host}:{port}":  # the port was taken meanwhile: it is not this one's
        raise SystemExit(f"llama.cpp listens on {server.listening_address}")
    ended.wait()
    del server


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
