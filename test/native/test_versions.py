"""A driver and a daemon of different builds: said at once and in words, instead of misunderstandings."""

import re
import shutil
import stat
import tempfile
import unittest
from pathlib import Path

from servers import BUILD, ROOT, Attached, Daemon, run

REVISION = int(
    re.search(r"0x1000, (0x[0-9a-f]{16})", (ROOT / "native" / "gen" / "opencl" / "revision.h").read_text())[1], 16
)
OTHER = REVISION ^ 0x1234567800000000
SAYS = f"the driver speaks opencl {{:08x}}, the daemon opencl {{:08x}}"


def other_build(name, folder):
    """The same program with another revision of the messages: what an older or a newer build would be."""
    made = Path(folder) / name
    code = (BUILD / name).read_bytes()
    ours = REVISION.to_bytes(8, "little")
    if ours not in code:
        raise AssertionError(f"{name} does not hold its revision as it is")
    made.write_bytes(code.replace(ours, OTHER.to_bytes(8, "little")))
    made.chmod(0o755 if stat.S_IXUSR & (BUILD / name).stat().st_mode else 0o644)
    return made


class OtherDaemon(Daemon):
    def start(self):
        self.command[self.command.index(str(BUILD / "flexrack-gpud"))] = str(other_build("flexrack-gpud", self.root))
        super().start()


class Versions(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="flexrack-versions-")
        self.addCleanup(shutil.rmtree, self.folder)

    def test_a_daemon_of_another_build_is_told_before_the_command_runs(self):
        with OtherDaemon() as daemon, Attached([daemon], "tls", held=False) as attached:
            code, out, err = run(
                [BUILD / "flexrack-lease-keeper", attached.file, "--", "echo", "it ran"], attached.env, 60
            )
            self.assertNotEqual(code, 0)
            self.assertNotIn("it ran", out)
            self.assertIn("node-1: " + SAYS.format(REVISION >> 32, OTHER >> 32), err)
            self.assertIn("flexrack gpu serve", err)

    def test_a_driver_of_another_build_finds_no_device_and_is_refused_in_words(self):
        with Daemon() as daemon, Attached([daemon], "tls") as attached:
            driver = other_build("libflexrack-opencl.so", self.folder)
            vendors = Path(self.folder) / "vendors"
            vendors.mkdir()
            (vendors / "other.icd").write_text(f"{driver}\n")
            trace = Path(self.folder) / "trace"
            env = {**attached.env, "OCL_ICD_VENDORS": f"{vendors}/", "FLEXRACK_TRACE": str(trace)}
            code, out, err = run([BUILD / "fault" / "load", 1, 4096], env, 60)
            self.assertNotEqual(code, 0, out)
            said = SAYS.format(OTHER >> 32, REVISION >> 32)
            self.assertIn(said, (trace.read_text() if trace.exists() else "") + err)
            self.assertIn(said, daemon.said())
            # And the one that fits is served.
            code, out, err = run([BUILD / "fault" / "load", 1, 4096], attached.env, 60)
            self.assertEqual((code, out.splitlines()[-1:]), (0, ["rounds 1"]), err[-3000:] + daemon.said()[-3000:])


if __name__ == "__main__":
    unittest.main()
