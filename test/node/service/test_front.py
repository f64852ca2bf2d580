"""The front of a service: who shows a certificate of the rack's gateway is let through to loopback, and nobody else."""

import contextlib
import http.client
import http.server
import os
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from flexrack_node.service.front import MOST_PENDING, Front
from flood_support import FLOOD
from waiting import LONG


class Certificates:
    """Two authorities with leaves, made by openssl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for authority in ("rack", "other"):
            self._openssl(
                "req",
                "-x509",
                *self._key(authority),
                "-subj",
                f"/CN={authority}",
                "-days",
                "2",
                "-out",
                f"{authority}.pem",
            )
            self._leaf(authority, "server", "serverAuth")
            self._leaf(authority, "client", "clientAuth")

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def client(self, authority: str, kind: str = "client", trusts: str = "rack") -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.folder / f"{trusts}.pem")
        if kind:
            context.load_cert_chain(self.folder / f"{authority}-{kind}.pem", self.folder / f"{authority}-{kind}.key")
        return context

    def _leaf(self, authority: str, kind: str, usage: str) -> None:
        name = f"{authority}-{kind}"
        (self.folder / f"{name}.ext").write_text(
            f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\nbasicConstraints=critical,CA:false\n"
        )
        self._openssl("req", *self._key(name), "-subj", f"/CN={name}", "-out", f"{name}.csr")
        self._openssl(
            "x509",
            "-req",
            "-in",
            f"{name}.csr",
            "-CA",
            f"{authority}.pem",
            "-CAkey",
            f"{authority}.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            f"{name}.ext",
            "-out",
            f"{name}.pem",
        )

    def _key(self, name: str) -> "tuple[str, ...]":
        return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key")

    def _openssl(self, *words: str) -> None:
        subprocess.run(
            ["openssl", *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )


class Service(http.server.BaseHTTPRequestHandler):
    """Answers with the size of what it got, and as many bytes as it is asked for."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = body or b"nothing"
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


class FrontTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp())
        cls.certificates = Certificates(cls.folder)

    @classmethod
    def tearDownClass(cls) -> None:
        subprocess.run(["rm", "-rf", str(cls.folder)], check=True)

    def setUp(self) -> None:
        self.service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        self.service.daemon_threads = True
        threading.Thread(target=self.service.serve_forever, daemon=True).start()
        self.addCleanup(self.service.server_close)
        self.addCleanup(self.service.shutdown)
        self.front = self.open_front(self.service.server_address[1])

    def open_front(self, to: int) -> Front:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        front = Front(
            {
                "listen": ["127.0.0.1", self.port],
                "to": ["127.0.0.1", to],
                "key": self.certificates.text("rack-server.key"),
                "certificate": self.certificates.text("rack-server.pem"),
                "ca": self.certificates.text("rack.pem"),
            }
        )
        front.start()
        self.addCleanup(front.close)
        return front

    def ask(self, context: ssl.SSLContext, body: bytes = b"x", seconds: float = LONG) -> "tuple[int, bytes]":
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=seconds)
        with contextlib.closing(connection):
            connection.request("POST", "/v2", body)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def test_the_gateway_gets_through_many_times_on_one_connection_and_with_large_bodies(self) -> None:
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=self.certificates.client("rack"), timeout=LONG
        )
        with contextlib.closing(connection):
            for size in (1, 100_000, 20_000_000, 1):
                body = os.urandom(size)
                connection.request("POST", "/", body)
                self.assertEqual(connection.getresponse().read(), body)

    def test_nobody_else_gets_through(self) -> None:
        seen = []
        self.service.RequestHandlerClass = lambda *given: seen.append(given) or Service(*given)  # type: ignore[assignment]
        unknown = {
            "no certificate": self.certificates.client("rack", ""),
            "another authority's": self.certificates.client("other"),
            "another front's": self.certificates.client("rack", "server"),
        }
        for what, context in unknown.items():
            with self.subTest(what), self.assertRaises((ssl.SSLError, OSError, http.client.HTTPException)):
                self.ask(context)
        with self.subTest("no TLS"), self.assertRaises((OSError, http.client.HTTPException)):
            plain = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            plain.request("POST", "/v2", b"x")
            plain.getresponse()
        self.assertEqual(seen, [])
        self.assertEqual(self.ask(self.certificates.client("rack")), (200, b"x"))

    def test_the_gateway_does_not_take_another_for_the_front(self) -> None:
        with self.assertRaises(ssl.SSLCertVerificationError):
            self.ask(self.certificates.client("rack", trusts="other"))

    def test_a_service_that_is_away_is_said_to_be_so_and_was_asked_nothing(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.open_front(probe.getsockname()[1])
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, context=self.certificates.client("rack"), timeout=LONG
            )
            with contextlib.closing(connection):
                connection.request("POST", "/v2", b"x" * 100_000)
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.getheader("x-flexrack-front")), (503, "away"))

    def test_pending_connections_take_each_others_places_only(self) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        context = self.certificates.client("rack")
        kept = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=LONG)
        self.addCleanup(kept.close)
        kept.request("POST", "/", b"first")
        self.assertEqual(kept.getresponse().read(), b"first")
        flood = subprocess.Popen(
            [sys.executable, "-c", FLOOD, str(self.port), "2000", "50"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.addCleanup(flood.wait)
        self.addCleanup(flood.stdin.close)
        flood.stdout.readline()
        self.addCleanup(flood.stdout.close)
        times = []
        for _ in range(10):
            begin = time.monotonic()
            self.assertEqual(self.ask(context), (200, b"x"))
            times.append(time.monotonic() - begin)
        print(
            f"front under 2000 silent and 50 flooding connections: a new one answers in {statistics.median(times):.3f} s, the slowest in {max(times):.3f} s"
        )
        self.assertLess(len(self.front._pending), MOST_PENDING + 1)
        kept.request("POST", "/", b"still here")
        self.assertEqual(kept.getresponse().read(), b"still here")
