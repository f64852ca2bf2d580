import hashlib
import os
import shutil
import subprocess
import unittest

import uv_program
from environment_support import MadeEnvironments


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
        error = self.call("environment.ensure", {"requirements": f"{lock}# another\n", "constraints": "torch<=1\n"})["error"]
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
        pins = self.call("environment.resolve", {"requirements": "alpha\n", "uv": self.uv, "universal": "3.9"})["result"]["pins"]
        self.assertEqual(pins, f"alpha==1.0 \\\n    --hash=sha256:{digest}\n")
        error = self.call("environment.resolve", {"requirements": "alpha\nbeta\n", "uv": self.uv, "universal": "3.9"})["error"]
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
