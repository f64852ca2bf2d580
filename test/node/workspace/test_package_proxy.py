import hashlib
import io
import json
import shutil
import socket
import tempfile
import threading
import unittest
import urllib.error
from pathlib import Path

from flexrack_node.workspace import mirror
from flexrack_node.workspace.package_proxy import Server, Share, ToPeers
from waiting import LONG

BODY = b"a package" * 1000
HASH = hashlib.sha256(BODY).hexdigest()


class Answer(io.BytesIO):
    headers = {}


class Upstream:
    """A caller who names these nodes one after the other, and then none; the index has `body`."""

    def __init__(self, peers=(), body=BODY):
        self.peers, self.body, self.asked = list(peers), body, []

    def proof_of(self, secret):
        return secret

    def open(self, url, headers, timeout=None):
        self.asked.append(url.split("/", 3)[3].split("/")[0] if "share.flexrack" in url else url)
        if "/want/" in url:
            return Answer(json.dumps({"peer": self.peers.pop(0) if self.peers else None}).encode())
        if "share.flexrack" in url:
            return Answer(b"{}")
        if self.body is None:
            raise urllib.error.URLError("away")
        return Answer(self.body)


class ShareTest(unittest.TestCase):
    def share(self, upstream):
        folder = Path(tempfile.mkdtemp(prefix="flexrack-share-"))
        self.addCleanup(shutil.rmtree, folder)
        return Share(folder, upstream)

    def test_the_archive_of_a_python_has_the_hash_that_its_release_says_wherever_that_is_found(self):
        sums = f"{HASH}  cpython-3.12.16+2026-x86_64.tar.gz\n{'0' * 64}  other\n".encode()
        name = "2026/cpython-3.12.16%2B2026-x86_64.tar.gz"
        share = self.share(Upstream(body=sums))
        self.assertEqual(share.python(f"https://p/{name}", None), (f"https://p/{name}", HASH))
        self.assertEqual(share.upstream.asked, ["https://p/2026/SHA256SUMS"])
        self.assertEqual(share.python("https://p/2026/cpython-3.13.1%2B2026-x86_64.tar.gz", None)[1], None)
        # The second place where the first does not answer; none has it: as it was asked for.
        away = self.share(Upstream(body=None))
        self.assertEqual(away.python(f"{mirror.PYTHONS[0]}/{name}", None), (f"{mirror.PYTHONS[0]}/{name}", None))
        self.assertEqual(away.upstream.asked, [f"{place}/2026/SHA256SUMS" for place in mirror.PYTHONS])
        # Anything else is not looked up.
        self.assertEqual(
            (share.python("https://i/a.whl", HASH), share.python("https://i/simple/", None)),
            (("https://i/a.whl", HASH), ("https://i/simple/", None)),
        )

    def listening(self, share, number=1):
        server = Server("127.0.0.1", ToPeers, share)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return {"id": str(number), "address": "127.0.0.1", "port": server.server_address[1], "secret": share.secret}

    def test_a_file_comes_from_another_node_and_is_kept_for_the_next(self):
        first = self.share(Upstream())
        self.assertEqual(first.get(HASH, "https://index/a.whl").read_bytes(), BODY)
        self.assertEqual(first.upstream.asked, ["want", "https://index/a.whl", "have"])
        second = self.share(Upstream([self.listening(first)], None))
        self.assertEqual(second.get(HASH, "https://index/a.whl").read_bytes(), BODY)
        second.get(HASH, "https://index/a.whl")
        self.assertEqual(second.upstream.asked, ["want", "have"])

    def test_what_another_node_gives_is_held_against_its_hash_and_one_that_has_gone_is_passed_over(self):
        evil = self.share(Upstream())
        (evil.folder / HASH).write_bytes(b"something else")
        away = {"id": "2", "address": "127.0.0.1", "port": 1, "secret": "x"}
        one = self.share(Upstream([self.listening(evil), away]))
        self.assertEqual(one.get(HASH, "https://index/a.whl").read_bytes(), BODY)
        self.assertEqual(one.upstream.asked, ["want", "want", "want", "https://index/a.whl", "have"])

    def test_another_node_that_sends_elsewhere_or_never_ends_or_speaks_no_http_is_passed_over(self):
        answers = {
            "sends elsewhere": b"HTTP/1.0 302 x\r\nLocation: http://127.0.0.1:%d/secret\r\n\r\n",
            "never ends": b"HTTP/1.0 200 x\r\n\r\n" + BODY,
            "speaks no HTTP": b"what?\r\n\r\n",
        }
        elsewhere = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(elsewhere.close)
        for name, answer in answers.items():
            with self.subTest(name), socket.create_server(("127.0.0.1", 0)) as evil:
                said = answer % elsewhere.getsockname()[1] if b"%d" in answer else answer
                thread = threading.Thread(target=self.say, args=(evil, said))
                thread.start()
                one = self.share(
                    Upstream([{"id": "1", "address": "127.0.0.1", "port": evil.getsockname()[1], "secret": "x"}])
                )
                self.assertEqual(one.get(HASH, "https://index/a.whl").read_bytes(), BODY)
                thread.join()
                self.assertEqual(one.upstream.asked, ["want", "want", "https://index/a.whl", "have"])
        elsewhere.setblocking(False)
        with self.assertRaises(BlockingIOError):
            elsewhere.accept()

    @staticmethod
    def say(server, answer):
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(answer)

    def test_what_the_index_gives_with_another_hash_is_not_passed_on(self):
        one = self.share(Upstream(body=b"other"))
        one.get(HASH, "https://index/a.whl")
        self.assertIsNone(one.kept(HASH))
        self.assertEqual(one.upstream.asked, ["want", "https://index/a.whl", "failed"])
        with self.assertRaises(OSError):
            gone = self.share(Upstream(body=None))
            gone.get(HASH, "https://index/a.whl")
        self.assertEqual(gone.upstream.asked[-1], "failed")

    def test_without_the_secret_nothing_is_given_and_whatever_is_said_the_next_is_answered(self):
        share = self.share(Upstream())
        share.get(HASH, "https://index/a.whl")
        place = self.listening(share)

        def said(line):
            with socket.create_connection(("127.0.0.1", place["port"]), LONG) as one:
                one.sendall(line)
                one.shutdown(socket.SHUT_WR)
                return one.makefile("rb").readline()

        for line in (
            b'{"returns": Infinity}\n',
            b"[" * 5000 + b"\n",
            b"\xff\xfe\n\n",
            b"GET /%s HTTP/1.1\r\n\r\n" % HASH.encode(),
            b"GET /x HTTP/1.1\r\nAuthorization: \xff\r\n\r\n",
            b"",
        ):
            self.assertNotIn(b" 200 ", said(line))
        secret = share.secret.encode()
        self.assertIn(b" 200 ", said(b"GET /%s HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n" % (HASH.encode(), secret)))
        self.assertIn(
            b" 404 ", said(b"GET /../%s HTTP/1.1\r\nAuthorization: Bearer %s\r\n\r\n" % (HASH.encode(), secret))
        )


class NamesTest(unittest.TestCase):
    def test_names_lead_there_and_back_and_keep_the_password_where_it_is_not_shown(self):
        name = mirror.mirrored("https://ada:pw@index.example:8443/simple")
        self.assertEqual(name, "http://ada:pw@mirror.flexrack.invalid/https/index.example:8443/simple")
        self.assertEqual(mirror.asked(name + "/six/"), ("https://index.example:8443/simple/six/", None))
        self.assertEqual(mirror.plain(f"error: {name}/six"), "error: https://index.example:8443/simple/six")
        self.assertIsNone(mirror.asked("http://index.example/simple/"))

    def test_pages_of_both_kinds_name_files_by_their_hash(self):
        html = f'<a href="../../files/six.whl#sha256={HASH}" data-core-metadata="true">six</a><a href="https://x/y.whl?a=1&amp;b=2">y</a>'
        page = mirror.page(html.encode(), "text/html", "https://i/simple/six/").decode()
        self.assertIn(
            f'"http://mirror.flexrack.invalid/file/{HASH}/https/i/files/six.whl#sha256={HASH}" data-core-metadata="true"',
            page,
        )
        self.assertIn('"http://mirror.flexrack.invalid/https/x/y.whl?a=1&amp;b=2"', page)
        found = json.loads(
            mirror.page(
                json.dumps({"files": [{"url": "six.whl", "hashes": {"sha256": HASH}}]}).encode(),
                "application/vnd.pypi.simple.v1+json",
                "https://i/simple/six/",
            )
        )
        self.assertEqual(mirror.asked(found["files"][0]["url"]), ("https://i/simple/six/six.whl", HASH))

    def test_where_nothing_names_an_index_the_default_one_is_and_a_file_of_uvs_own_is_left_alone(self):
        default = {"UV_DEFAULT_INDEX": "http://mirror.flexrack.invalid/https/pypi.org/simple"}
        self.assertEqual(mirror.in_environment({}, False, False), default)
        self.assertEqual([mirror.in_environment({}, True, False), mirror.in_environment({}, False, True)], [{}, {}])
        self.assertEqual(
            mirror.in_environment({"UV_INDEX": "a=https://b/c https://d"}, True, False),
            {"UV_INDEX": "a=http://mirror.flexrack.invalid/https/b/c http://mirror.flexrack.invalid/https/d"},
        )
        own = {"UV_PYTHON_INSTALL_MIRROR": "https://p/q/"}
        self.assertEqual(
            mirror.for_pythons({}, False),
            {"UV_PYTHON_INSTALL_MIRROR": f"http://mirror.flexrack.invalid/https/{mirror.PYTHONS[0][8:]}"},
        )
        self.assertEqual(
            mirror.for_pythons(own, True), {"UV_PYTHON_INSTALL_MIRROR": "http://mirror.flexrack.invalid/https/p/q"}
        )
        self.assertEqual(
            [
                mirror.for_pythons({}, True),
                mirror.for_pythons({"UV_PYTHON_INSTALL_MIRROR": "file:///p"}, False),
                mirror.for_pythons({"UV_ASTRAL_MIRROR_URL": "https://x"}, False),
            ],
            [{}, {}, {}],
        )
        self.assertEqual(
            mirror.in_requirements("--index-url https://b/c\nsix\n"),
            "--index-url http://mirror.flexrack.invalid/https/b/c\nsix\n",
        )
