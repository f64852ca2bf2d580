"""In front of llama.cpp's server where a model has LoRA adapters: callers name one as their `model`, as with vLLM.

llama.cpp takes adapters by number, in a field of its own (`lora`, tools/server/README.md of its source), and any name of
a model. Here the name becomes the number, and a name that nobody has is refused. All else goes through byte by byte; a
caller that goes away ends its request at llama.cpp.
"""

import asyncio
import json
import time
from typing import Dict, List, Optional, Tuple

LARGEST_HEAD = 64 * 1024  # bytes
LARGEST_BODY = 256 * 1024**2
PIECE = 64 * 1024
OWN_HEADERS = ("connection", "content-length", "transfer-encoding", "expect", "keep-alive")


class Refused(Exception):
    """`args`: status, message and code, in the shape of OpenAI's API."""


class Front:
    """`inner`: host and port of llama.cpp. `adapters`: names, by number."""

    def __init__(self, inner: Tuple[str, int], model: str, adapters: List[str]) -> None:
        self._inner, self._model, self._adapters = inner, model, adapters
        self._began = int(time.time())
        self._open: "set[asyncio.Task[None]]" = set()

    async def serve(self, host: str, port: int, ended: asyncio.Event, grace: float) -> None:
        """Until `ended`; requests that have begun are answered, for `grace` seconds at most."""
        server = await asyncio.start_server(self._accept, host, port, limit=LARGEST_HEAD)
        await ended.wait()
        server.close()
        if self._open:
            await asyncio.wait(self._open, timeout=grace)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except Refused as error:
            status, message, code = error.args
            kind = "invalid_request_error"
            said = {"error": {"message": message, "type": kind, "param": None, "code": code}}
            writer.write(json_answer(status, said))
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the caller has gone, or llama.cpp has ended: whoever waits sees the end
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, path, headers = await read_head(reader)
        body = await read_body(reader, headers)
        if method == "GET" and path == "/v1/models":
            writer.write(json_answer(200, self._models()))
            await writer.drain()
            return
        if method == "POST":
            body = self._chosen(body)
        within, onward = await asyncio.open_connection(*self._inner)
        try:
            lines = [f"{name}: {value}" for name, value in headers.items() if name not in OWN_HEADERS]
            lines += ["connection: close", f"content-length: {len(body)}"]
            onward.write("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode("latin-1") + body)
            await onward.drain()
            passing = asyncio.ensure_future(pass_on(within, writer))
            leaving = asyncio.ensure_future(reader.read(1))
            try:
                await asyncio.wait([passing, leaving], return_when=asyncio.FIRST_COMPLETED)
                if passing.done():
                    passing.result()
            finally:
                for task in (passing, leaving):
                    task.cancel()
                await asyncio.gather(passing, leaving, return_exceptions=True)
        finally:
            onward.close()

    def _models(self) -> Dict[str, object]:
        names = [self._model, *self._adapters]
        data = [{"id": one, "object": "model", "created": self._began, "owned_by": "llamacpp"} for one in names]
        return {"object": "list", "data": data}

    def _chosen(self, body: bytes) -> bytes:
        """The request with the adapter that it names; without one the model answers as it is."""
        try:
            value = json.loads(body)
        except (json.JSONDecodeError, UnicodeDecodeError):
            return body  # llama.cpp says what is wrong with it
        except (
            ValueError,
            RecursionError,
        ) as error:  # a number, or a depth, that is JSON and that only llama.cpp reads
            raise Refused(400, f"the body cannot be read: {error}", None) from None
        if not isinstance(value, dict):
            return body
        name = value.get("model", self._model)
        if name not in (self._model, *self._adapters):
            raise Refused(404, f"The model `{name}` does not exist.", "model_not_found")
        # All of them are told: what is left out of an empty list would have the scale that it was loaded with.
        chosen = [{"id": index, "scale": float(one == name)} for index, one in enumerate(self._adapters)]
        return json.dumps({**value, "lora": chosen}).encode()


async def read_head(reader: asyncio.StreamReader) -> Tuple[str, str, Dict[str, str]]:
    """Method, path and headers, whose names are in lower case."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise Refused(431, "the headers are too long", None) from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    words = first.split(" ")
    if len(words) != 3:
        raise Refused(400, "this is no request of HTTP", None)
    pairs = (line.partition(":") for line in lines)
    return words[0], words[1], {name.strip().lower(): value.strip() for name, _, value in pairs}


async def read_body(reader: asyncio.StreamReader, headers: Dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(sized(headers.get("content-length", "0"), 10, 0))
    pieces: List[bytes] = []
    total = 0
    while True:
        size = sized((await reader.readline()).split(b";")[0].decode("latin-1").strip(), 16, total)
        if size == 0:
            while (await reader.readline()).strip():
                pass  # trailers
            return b"".join(pieces)
        pieces.append(await reader.readexactly(size))
        await reader.readexactly(2)
        total += size


def sized(text: str, base: int, before: int) -> int:
    try:
        size = int(text, base)
    except ValueError:
        size = -1
    if size < 0:
        raise Refused(400, "the length of the body is no number", None)
    if before + size > LARGEST_BODY:
        raise Refused(413, f"the body has more than {LARGEST_BODY} bytes", None)
    return size


async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        piece = await reader.read(PIECE)
        if not piece:
            return
        writer.write(piece)
        await writer.drain()


def json_answer(status: int, value: Optional[Dict[str, object]]) -> bytes:
    body = json.dumps(value).encode()
    head = f"HTTP/1.1 {status} {'OK' if status == 200 else 'Refused'}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
