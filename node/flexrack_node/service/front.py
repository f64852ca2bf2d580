"""The front of a service that listens on loopback: TLS on an address of the node, for who shows a certificate of the
rack's authority.

The service itself asks nobody for anything, so that it must not listen where others reach it. The head's gateway is let
in, and nobody else: certificates of other fronts are for servers, not for clients. Anybody may connect as often as they
like: pending connections take each other's places, and no descriptor of those who are in.
"""

import asyncio
import contextlib
import socket
import ssl
import tempfile
import threading
from concurrent.futures import Future
from typing import Any, Dict, Mapping, Optional, Set, Tuple

from flexrack_node.link.origin import origin_of

MOST_PENDING = 128  # connections that have not proven anything
MOST_CLIENTS = 512
_PROOF_SECONDS = 10.0
_REACH_SECONDS = 5.0  # for the service on loopback to take a connection
_CHUNK = 256 * 1024
_PAUSE_SECONDS = 0.05

Address = Tuple[str, int]


class Front:
    """`spec`: {listen: [address, port], to: [address, port], key, certificate, ca}, the last three PEM. Runs in a
    thread of its own.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._listen: Address = (spec["listen"][0], spec["listen"][1])
        self._to: Address = (spec["to"][0], spec["to"][1])
        self._tls = _context(spec)
        self._loop = asyncio.SelectorEventLoop()
        self._pending: Dict[int, Tuple[socket.socket, bytes]] = {}  # by a number that grows: the oldest first
        self._next = 0
        self._clients: Set[asyncio.Task[None]] = set()
        self._listening: Optional[socket.socket] = None
        self._accepting: asyncio.Task[None]

    def start(self) -> None:
        """Listens, and goes on in a thread. Raises OSError where that address cannot be listened on."""
        family = socket.AF_INET6 if ":" in self._listen[0] else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(self._listen)
            listening.listen(256)
        except OSError:
            listening.close()
            raise
        listening.setblocking(False)
        self._listening = listening
        ready: Future[None] = Future()
        threading.Thread(target=self._run, args=(ready,), name="front", daemon=True).start()
        ready.result()

    def close(self) -> None:
        """Cuts what is under way, too."""
        with contextlib.suppress(RuntimeError):  # it has ended already
            self._loop.call_soon_threadsafe(self._accepting.cancel)

    def _run(self, ready: "Future[None]") -> None:
        asyncio.set_event_loop(self._loop)
        # an unknown caller's broken handshake is not worth a line each
        self._loop.set_exception_handler(lambda loop, context: None)
        self._accepting = self._loop.create_task(self._accept())
        ready.set_result(None)
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._accepting)
        if self._listening is not None:
            self._listening.close()
        for task in self._clients:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*self._clients, return_exceptions=True))
        self._loop.close()

    async def _accept(self) -> None:
        assert self._listening is not None
        while True:
            try:
                connection, address = await self._loop.sock_accept(self._listening)
            except OSError:  # no more descriptors: a pending one goes first
                self._evict()
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            # A connection that waits already is accepted at once, without a turn for anybody else: neither would be
            # served who is here, nor closed who was cut.
            await asyncio.sleep(0)
            while len(self._pending) >= MOST_PENDING:
                self._evict()
            number, self._next = self._next, self._next + 1
            self._pending[number] = (connection, origin_of(str(address[0])))
            task = self._loop.create_task(self._serve(number, connection))
            self._clients.add(task)
            task.add_done_callback(self._clients.discard)

    def _evict(self) -> bool:
        """Cuts the oldest pending one of the origin that has the most; False where there is none."""
        crowds: Dict[bytes, int] = {}
        for _, origin in self._pending.values():
            crowds[origin] = crowds.get(origin, 0) + 1
        if not crowds:
            return False
        largest = max(crowds, key=lambda origin: crowds[origin])
        number = next(number for number, (_, origin) in self._pending.items() if origin == largest)
        connection, _ = self._pending.pop(number)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        return True

    async def _serve(self, number: int, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = asyncio.StreamReader(limit=_CHUNK, loop=self._loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
        try:
            transport, _ = await asyncio.wait_for(
                self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=self._tls), _PROOF_SECONDS
            )
        except (OSError, ssl.SSLError, asyncio.TimeoutError, ConnectionError):
            connection.close()
            return
        finally:
            self._pending.pop(number, None)
        writer = asyncio.StreamWriter(transport, protocol, reader, self._loop)
        # TLS 1.3 lets a client speak before its certificate was looked at; the transport is only there once it was.
        try:
            if len(self._clients) - len(self._pending) <= MOST_CLIENTS:
                await self._join(reader, writer)
        finally:
            writer.close()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.wait_for(
                asyncio.open_connection(*self._to, limit=_CHUNK), _REACH_SECONDS
            )
        except (OSError, asyncio.TimeoutError):
            return await _say_away(reader, writer)
        try:
            pumps = [
                self._loop.create_task(_pump(reader, far_writer)),
                self._loop.create_task(_pump(far_reader, writer)),
            ]
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            far_writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError, ssl.SSLError):
        while True:
            data = await reader.read(_CHUNK)
            if not data:
                return
            writer.write(data)
            await writer.drain()


async def _say_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """In HTTP, that the service takes no connections now and was asked nothing: the gateway goes to another target, or
    waits. Then what the client still sends is read, as closing before that would take the answer from it.
    """
    with contextlib.suppress(OSError, ssl.SSLError, asyncio.TimeoutError):
        writer.write(
            b"HTTP/1.1 503 Service Unavailable\r\nx-flexrack-front: away\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        await writer.drain()
        await asyncio.wait_for(_read_out(reader), _REACH_SECONDS)


async def _read_out(reader: asyncio.StreamReader) -> None:
    while await reader.read(_CHUNK):
        pass


def _context(spec: Mapping[str, Any]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=spec["ca"])
    # Python takes a key from a file only; this one is 0600 and gone at once.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(f"{spec['key']}\n{spec['certificate']}\n")
        file.flush()
        context.load_cert_chain(file.name)
    return context
