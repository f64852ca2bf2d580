"""Facts of this machine, and parts that fail or hang."""

import io
import os
import resource
import socket
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import List

from flexrack_node.base import sysfs
from flexrack_node.base.channel import Channel
from flexrack_node.facts import containers, facts, network, slurm


class FactsTest(unittest.TestCase):
    def test_measures_this_machine(self) -> None:
        before = {name for _, name in socket.if_nameindex()}
        with tempfile.TemporaryDirectory() as folder:
            measured = facts.measure(
                {"peers": {"self": "127.0.0.1", "gone": "nowhere.invalid"}},
                Channel(Path(folder, "not", "there"), Path(folder), io.BytesIO()),
            )
        self.assertEqual(measured["missing"], {})
        self.assertEqual(measured["hostname"], socket.gethostname())
        self.assertEqual(measured["cpu"]["cores"], len(os.sched_getaffinity(0)))
        self.assertGreater(measured["memory"]["total"], measured["memory"]["available"])
        self.assertTrue(measured["disk"]["writable"])
        self.assertEqual(measured["python"]["version"].split(".")[:2], [str(part) for part in sys.version_info[:2]])
        self.assertEqual(measured["routes"]["self"], {"to": "127.0.0.1", "from": "127.0.0.1", "interface": "lo"})
        self.assertIn("error", measured["routes"]["gone"])
        self.assertLess(abs(measured["clock"] - time.time()), 60)
        self.assertEqual(
            [measured["limits"]["open_files"][key] for key in ("soft", "hard")],
            [
                None if value == resource.RLIM_INFINITY else value
                for value in resource.getrlimit(resource.RLIMIT_NOFILE)
            ],
        )
        self.assertEqual(
            sum(len(sysfs.cpu_list(node["cpus"])) for node in measured["numa"]), measured["cpu"]["threads"]
        )
        stayed = before & {name for _, name in socket.if_nameindex()} - {"lo"}
        self.assertEqual({nic["name"] for nic in measured["nics"]} & stayed, stayed)
        self.assertEqual(measured["gpu_daemon"], {"state": "absent", "devices": []})

    def test_a_part_that_fails_or_hangs_does_not_take_the_others_along(self) -> None:
        release = threading.Event()
        self.addCleanup(release.set)

        def fails() -> None:
            raise OSError("no such thing")

        measured = facts.measure_all({"good": lambda: 1, "bad": fails, "slow": release.wait}, seconds=0.2)
        self.assertEqual(measured["good"], 1)
        self.assertEqual(measured["missing"], {"bad": "OSError: no such thing", "slow": "no answer within 0.2 s"})

    def test_parts_that_share_an_answer_ask_once_and_share_its_error(self) -> None:
        requested: List[int] = []

        def fails() -> None:
            requested.append(1)
            raise OSError("no such thing")

        shared = facts.once(fails)
        measured = facts.measure_all({"one": shared, "two": shared}, seconds=10)
        self.assertEqual(
            (len(requested), measured["missing"]),
            (1, {"one": "OSError: no such thing", "two": "OSError: no such thing"}),
        )
        self.assertEqual([facts.once(lambda: 7)() for _ in range(2)], [7, 7])

    def test_names_cpus_in_ranges(self) -> None:
        self.assertEqual([facts.ranges(cpus) for cpus in ([0, 1, 2, 8, 10, 11], [3], [])], ["0-2,8,10-11", "3", ""])

    def test_reads_what_slurm_says(self) -> None:
        # sinfo 22.05.8 of Debian 12, asked of a controller with a partition that is down.
        self.assertEqual(
            slurm.parse_partitions("batch*|up|1-00:00:00|3\ndebug|down|infinite|1\n"),
            [
                {"name": "batch", "default": True, "up": True, "time_limit": "1-00:00:00", "nodes": 3},
                {"name": "debug", "default": False, "up": False, "time_limit": "infinite", "nodes": 1},
            ],
        )
        self.assertEqual(
            slurm.parse_node("vm|batch*|idle\nvm|debug|idle\n"),
            {"name": "vm", "state": "idle", "partitions": ["batch", "debug"]},
        )
        self.assertIsNone(slurm.parse_node(""))

    def test_reads_versions_of_container_runtimes(self) -> None:
        reported = [
            "Docker version 28.2.2, build e6534b4",
            "podman version 4.3.1",
            "apptainer version 1.3.4-1.el9",
            "singularity-ce version 4.1.2+12-g0a1b",
            "3.5.0",
            "unknown",
        ]
        self.assertEqual(
            [containers.parse_version(text) for text in reported],
            ["28.2.2", "4.3.1", "1.3.4-1.el9", "4.1.2+12-g0a1b", "3.5.0", None],
        )

    def test_tells_which_ports_are_taken(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.assertEqual(network.taken_ports([["127.0.0.1", port]]), [port])
        self.assertEqual(network.taken_ports([["127.0.0.1", port]]), [])

    def test_finds_addresses_without_the_ip_command(self) -> None:
        loopback = next(one for one in network.from_kernel() if one.name == "lo")
        self.assertIn("127.0.0.1/8", loopback.addresses)
