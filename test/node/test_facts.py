"""Facts of this machine, and parts that fail or hang."""
import io
import os
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "node"))

from flexrack_node import facts, network  # noqa: E402
from flexrack_node.channel import Channel  # noqa: E402


class FactsTest(unittest.TestCase):
    def test_measures_this_machine(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            measured = facts.measure({"peers": {"self": "127.0.0.1", "gone": "nowhere.invalid"}}, Channel(Path(folder, "not", "there"), Path(folder), io.BytesIO()))
        self.assertEqual(measured["missing"], {})
        self.assertEqual(measured["hostname"], socket.gethostname())
        self.assertEqual(measured["cpu"]["cores"], len(os.sched_getaffinity(0)))
        self.assertGreater(measured["memory"]["total"], measured["memory"]["available"])
        self.assertTrue(measured["disk"]["writable"])
        self.assertEqual(measured["python"]["version"].split(".")[:2], [str(part) for part in sys.version_info[:2]])
        self.assertEqual(measured["routes"]["self"], {"to": "127.0.0.1", "from": "127.0.0.1", "interface": "lo"})
        self.assertIn("error", measured["routes"]["gone"])
        self.assertLess(abs(measured["clock"] - time.time()), 60)

    def test_a_part_that_fails_or_hangs_does_not_take_the_others_along(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)

        def fails() -> None:
            raise OSError("no such thing")

        measured = facts.measure_all({"good": lambda: 1, "bad": fails, "slow": release.wait}, seconds=0.2)
        self.assertEqual(measured["good"], 1)
        self.assertEqual(measured["missing"], {"bad": "OSError: no such thing", "slow": "no answer within 0.2 s"})

    def test_reads_gpus_from_what_nvidia_smi_says(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "nvidia-smi")
            program.write_text("#!/bin/sh\necho '0, GPU-1, NVIDIA H100 80GB HBM3, 81559, 580.1, 00000000:01:00.0'\necho '1, GPU-2, Odd, [N/A], 580.1, 0'\necho noise\n")
            program.chmod(0o755)
            path = os.environ["PATH"]
            os.environ["PATH"] = f"{folder}:{path}"
            try:
                found = facts.gpus()
            finally:
                os.environ["PATH"] = path
        self.assertEqual([(gpu["index"], gpu["name"], gpu["memory"]) for gpu in found], [(0, "NVIDIA H100 80GB HBM3", 81559 * 1024 * 1024), (1, "Odd", None)])

    def test_tells_which_ports_are_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.assertEqual(network.taken_ports([["127.0.0.1", port]]), [port])
        self.assertEqual(network.taken_ports([["127.0.0.1", port]]), [])

    def test_finds_addresses_without_the_ip_command(self) -> None:
        loopback = next(one for one in network.from_kernel() if one["name"] == "lo")
        self.assertIn("127.0.0.1/8", loopback["addresses"])


if __name__ == "__main__":
    unittest.main()
