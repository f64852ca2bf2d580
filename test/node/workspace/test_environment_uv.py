import base64
import hashlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import threading
import unittest
from pathlib import Path

import uv_program
from environment_support import MadeEnvironments
from waiting import until


class UvTest(MadeEnvironments, unittest.TestCase):
    """What only uv does."""

    def setUp(self):
        super().setUp()
        self.uv = uv_program.order()
        uv_program.put(self.environments)

    def test_constraints_hold_beside_a_lock_too_whether_the_nodes_own_or_the_projects(self):
        self.wheel("alpha")
        digest = hashlib.sha256((self.wheels / "alpha-1.0-py3-none-any.whl").read_bytes()).hexdigest()
        lock = f"alpha==1.0 \\\n    --hash=sha256:{digest}\n"
        limits = self.folder / "limits.txt"
        limits.write_text("torch<=2\nalpha<2\n")
        self.env["PIP_CONSTRAINT"] = str(limits)
        self.assertTrue(self.call("environment.ensure", {"requirements": lock})["result"]["built"])
        limits.write_text("alpha>1\n")
        error = self.call("environment.ensure", {"requirements": f"{lock}# another\n", "constraints": "torch<=1\n"})[
            "error"
        ]
        self.assertEqual((error["code"], error["details"]["requirement"]), ("ENVIRONMENT_FAILED", "alpha==1.0"))
        self.assertEqual(len(self.folders()), 1)

    def test_another_node_gets_the_versions_that_one_has_or_would_get(self):
        self.wheel("alpha", "1.0")
        wanted = {"requirements": "alpha\n", "uv": self.uv}
        self.assertEqual(self.call("environment.resolve", wanted)["result"], {"pins": "alpha==1.0\n"})
        self.call("environment.ensure", wanted)
        self.wheel("alpha", "2.0")
        pins = self.call("environment.resolve", wanted)["result"]["pins"]
        self.assertEqual(pins, "alpha==1.0\n")  # what is installed, not what would be now
        first = self.folders()
        self.environments = self.folder / "elsewhere"
        uv_program.put(self.environments)
        other = self.call("environment.ensure", {**wanted, "pins": pins})["result"]
        self.assertEqual((other["hash"], self.call("environment.resolve", wanted)["result"]["pins"]), (first[0], pins))

    def test_a_lock_has_the_hashes_of_every_file(self):
        self.wheel("alpha", "1.0")
        digest = hashlib.sha256((self.wheels / "alpha-1.0-py3-none-any.whl").read_bytes()).hexdigest()
        pins = self.call("environment.resolve", {"requirements": "alpha\n", "uv": self.uv, "universal": "3.9"})[
            "result"
        ]["pins"]
        self.assertEqual(pins, f"alpha==1.0 \\\n    --hash=sha256:{digest}\n")
        error = self.call("environment.resolve", {"requirements": "alpha\nbeta\n", "uv": self.uv, "universal": "3.9"})[
            "error"
        ]
        self.assertEqual((error["code"], error["details"]["requirement"]), ("ENVIRONMENT_FAILED", "beta"))

    def test_what_is_removed_is_not_kept_by_the_cache_and_what_others_have_is(self):
        self.wheel("alpha", bytes_of_zeros=5_000_000)
        self.wheel("beta", bytes_of_zeros=5_000_000)
        cache = self.environments / ".uv" / "cache"

        def cached():
            return sorted(path.stem for path in cache.glob("archive-v*/*/*.bin"))

        both = self.call("environment.ensure", {"requirements": "alpha\nbeta\n"})["result"]
        self.call("environment.ensure", {"requirements": "beta\n", "user": "head"})
        self.assertEqual(cached(), ["alpha", "beta"])
        self.call("environment.remove", {"dry_run": True})
        self.assertEqual(cached(), ["alpha", "beta"])
        self.assertEqual(self.call("environment.remove", {})["result"]["removed"], [both["hash"]])
        self.assertEqual(cached(), ["beta"])
        again = self.call("environment.ensure", {"requirements": "alpha\nbeta\n"})
        self.assertIn("result", again, again)
        self.assertEqual(cached(), ["alpha", "beta"])

    @unittest.skipUnless(os.geteuid() == 0, "a small disk can be mounted by root only")
    def test_a_disk_that_is_full_in_the_middle_is_told_and_nothing_is_left(self):
        self.wheel("huge", bytes_of_zeros=200_000_000)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(self.environments)], check=True)
        try:
            uv_program.put(self.environments)
            error = self.call("environment.ensure", {"requirements": "huge\n"})["error"]
            self.assertEqual(error["code"], "NODE_UNFIT")
            self.assertRegex(error["message"], f"^no space left on this node below {self.environments}$")
            self.assertEqual(sorted(path.name for path in self.environments.iterdir()), [".locks", ".uv"])
            self.assertGreater(shutil.disk_usage(self.environments).free, 90_000_000)
        finally:
            subprocess.run(["umount", "-l", str(self.environments)], check=True)

    def test_the_password_of_an_index_opens_it_and_stands_in_no_argv_no_event_and_no_error(self):
        self.wheel("alpha")
        port = self.serve("ada", "s3cret")
        self.env.update({"PIP_INDEX_URL": f"http://ada:s3cret@127.0.0.1:{port}/simple"})
        del self.env["PIP_NO_INDEX"], self.env["PIP_FIND_LINKS"]
        self.assertIn("result", (answer := self.call("environment.ensure", {"requirements": "alpha\n"})), answer)
        error = self.call("environment.ensure", {"requirements": "alpha\nbeta\n"})["error"]
        self.assertEqual((error["code"], error["details"]["requirement"]), ("ENVIRONMENT_FAILED", "beta"))
        self.assertNotIn("s3cret", json.dumps([error, self.events]))
        netrc = self.folder / "netrc"
        netrc.write_text("machine 127.0.0.1 login ada password s3cret\n")
        netrc.chmod(0o600)
        self.env.update({"PIP_INDEX_URL": f"http://127.0.0.1:{port}/simple", "NETRC": str(netrc)})
        self.assertTrue(self.call("environment.ensure", {"requirements": "alpha==1.0\n"})["result"]["built"])
        self.slow_source()
        self.env.update(
            {"PIP_EXTRA_INDEX_URL": f"http://ada:s3cret@127.0.0.1:{port}/simple", "PIP_FIND_LINKS": str(self.wheels)}
        )
        child = self.start("environment.ensure", {"requirements": "slow\n"})
        until((self.folder / "building").exists)
        words = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in self.processes()]
        self.assertTrue(any(b"install" in one for one in words))
        self.assertFalse(any(b"s3cret" in one for one in words))
        child.send_signal(signal.SIGTERM)
        self.end(child)

    def test_the_best_of_two_indexes_is_taken_as_with_pip(self):
        self.wheel("alpha", "1.0")
        port = self.serve("ada", "s3cret")
        more = self.folder / "more" / "alpha"
        more.mkdir(parents=True)
        shutil.move(self.wheels / "alpha-1.0-py3-none-any.whl", more / "alpha-1.0-py3-none-any.whl")
        self.wheel("alpha", "2.0")
        (more / "index.html").write_text("<a href='alpha-1.0-py3-none-any.whl'>alpha-1.0-py3-none-any.whl</a>")
        self.env.update(
            {
                "PIP_INDEX_URL": f"http://ada:s3cret@127.0.0.1:{port}/simple",
                "PIP_EXTRA_INDEX_URL": f"file://{more.parent}",
            }
        )
        del self.env["PIP_NO_INDEX"], self.env["PIP_FIND_LINKS"]
        resolved = self.call("environment.resolve", {"requirements": "alpha\n", "uv": self.uv})["result"]
        # uv by itself stops at the first index that has the package
        self.assertEqual(resolved, {"pins": "alpha==2.0\n"})
        resolved = self.call("environment.resolve", {"requirements": "alpha<2\n", "uv": self.uv})["result"]
        self.assertEqual(resolved, {"pins": "alpha==1.0\n"})

    def serve(self, user, password):
        """A package index of the wheels, for who has the password; returns its port."""
        wheels, wanted = self.wheels, "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

        class Index(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                parts = [part for part in self.path.split("?")[0].split("/") if part]
                files = sorted(file.name for file in wheels.glob("*.whl"))
                if self.headers["Authorization"] != wanted:
                    return self.answer(401, b"", [("WWW-Authenticate", "Basic realm=index")])
                if parts[:1] == ["files"] and parts[1] in files:
                    return self.answer(200, (wheels / parts[1]).read_bytes())
                mine = [name for name in files if name.startswith(f"{parts[-1]}-")]
                return self.answer(
                    200 if mine else 404,
                    "".join(f"<a href='/files/{name}'>{name}</a>" for name in mine).encode(),
                    [("Content-Type", "text/html")],
                )

            do_HEAD = do_GET

            def answer(self, status, body, headers=()):
                self.send_response(status)
                for name, value in (*headers, ("Content-Length", str(len(body)))):
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server.server_address[1]
