import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from flexrack_node.measure import hardware, system_metrics
from flexrack_node.measure.hardware_file import HardwareFile, last_sample, merged, read_samples
from flexrack_node.measure.hardware_gpus import GpuReader, gpus_of, parse_row
from flexrack_node.measure.sampler import Sampler, difference
from flexrack_node.process.containment import is_alive
from flexrack_node.run.files import RunFolder
from run_support import Rack, supervisor_pid
from waiting import until

# Until a file "over" is there: rank 0 computes, in itself and in a child; rank 1 holds 200 MiB and writes to disk.
BUSY = """
import os, subprocess, sys
child = "while True: pass"
if os.environ["RANK"] == "0":
    subprocess.Popen([sys.executable, "-c", child])
    while not os.path.exists("over"): sum(range(1000))
else:
    kept = bytearray(os.urandom(1) * (200 << 20))
    with open("big", "wb") as file:
        file.write(os.urandom(8 << 20)); file.flush(); os.fsync(file.fileno())
    import time
    while not os.path.exists("over"): time.sleep(1)
"""

SMI = """#!/usr/bin/env python3
import os, sys, time
with open(os.path.join(os.path.dirname(__file__), "asked"), "a") as file: print(*sys.argv[1:], file=file)
ids = next((word[5:].split(",") for word in sys.argv if word.startswith("--id=")), ["GPU-a", "GPU-b"])
for _ in range(int(open(os.path.join(os.path.dirname(__file__), "rounds")).read())):
    for one in ids: print(f"{ord(one[-1]) - 97}, {one}, 75, 1024, 4096, 250.50, 400.00, 61", flush=True)
    time.sleep(0.1)
sys.exit(9)
"""


class HardwareOfARunTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)
        self.smi = tempfile.TemporaryDirectory()
        self.addCleanup(self.smi.cleanup)

    def folder(self, run, node="node-1"):
        return self.rack.folder / node / "runs" / run

    def samples(self, run, node="node-1"):
        return read_samples(self.folder(run, node) / "hardware.jsonl")

    def with_smi(self, rounds=100000):
        Path(self.smi.name, "nvidia-smi").write_text(SMI)
        Path(self.smi.name, "nvidia-smi").chmod(0o755)
        Path(self.smi.name, "rounds").write_text(str(rounds))
        self.rack.env["PATH"] = f"{self.smi.name}:{os.environ['PATH']}"

    def test_what_ranks_and_their_children_use_is_seen_and_told_apart(self):
        self.rack.script(BUSY)
        run = self.rack.start(sample_seconds=0.3)

        def is_seen():
            zero = [one["ranks"]["0"] for one in self.samples(run) if "0" in one["ranks"]]
            one = [sample["ranks"]["1"] for sample in self.samples(run, "node-2") if "1" in sample["ranks"]]
            # That the one computes, in two processes, and the other only waits, and holds much.
            return any(cpu > 2 and processes == 2 for cpu, _, _, _, processes in zero) and any(
                cpu == 0 and memory > 200 << 20 for cpu, memory, *_ in one
            )

        until(is_seen)
        (self.rack.folder / "code" / "over").touch()
        self.assertEqual(self.rack.finish(run)["status"], "finished")
        self.rack.finish(run, "node-2")
        first = json.loads((self.folder(run) / "hardware.json").read_text())["attempts"]["1"]
        second = json.loads((self.folder(run, "node-2") / "hardware.json").read_text())["attempts"]["1"]
        self.assertEqual((list(first["ranks"]), list(second["ranks"])), (["0"], ["1"]))
        self.assertGreater(first["ranks"]["0"]["cpu"], 0)
        self.assertGreater(second["ranks"]["1"]["peak"], 200 << 20)
        self.assertLess(first["ranks"]["0"]["peak"], 200 << 20)
        self.assertTrue(
            all(one["attempt"] in (0, 1) and one["gpus"] == {} and 0 <= one["cpu"] <= 100 for one in self.samples(run))
        )

    def test_one_nvidia_smi_stays_for_the_run_is_asked_for_the_run_s_gpus_alone_and_ends_with_it(self):
        self.with_smi()
        self.rack.script("import os, time\nwhile not os.path.exists('over'): time.sleep(0.05)\n")
        jobs = Path(self.smi.name, "jobs")
        jobs.mkdir()
        placed = [{"gpus": ["GPU-b"], "cpus": None, "memory": []}]
        run = self.rack.start(["node-1"], sample_seconds=0.2, placed=placed, dcgm=str(jobs))
        until(lambda: sum(1 for one in self.samples(run) if one["gpus"] and one["attempt"] == 1) > 3)
        self.assertEqual([(path.name, path.read_text()) for path in jobs.iterdir()], [("1", f"{run}\n")])
        pid = supervisor_pid(self.rack, run, "node-1")
        smi = [
            child
            for child, parent in hardware.all_parents().items()
            if parent == pid and b"nvidia-smi" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
        self.assertEqual(len(smi), 1)
        (self.rack.folder / "code" / "over").touch()
        self.rack.finish(run)
        self.assertEqual(os.listdir(jobs), [])
        self.assertFalse(is_alive(smi[0]))
        requested = Path(self.smi.name, "asked").read_text().splitlines()
        self.assertEqual(len(requested), 1)
        self.assertIn("--id=GPU-b", requested[0])
        self.assertEqual(self.samples(run)[-1]["gpus"], {"1": [75.0, 1 << 30, 250.5, 61.0]})
        summary = json.loads((self.folder(run) / "hardware.json").read_text())
        self.assertEqual(summary["gpus"], ["GPU-b"])
        self.assertEqual(summary["attempts"]["1"]["gpus"]["1"]["used"], 75.0)

    def test_nvidia_smi_ends_with_a_supervisor_that_was_killed(self):
        self.with_smi()
        self.rack.script("import time\ntime.sleep(600)\n")
        run = self.rack.start(["node-1"], sample_seconds=0.2)
        until(lambda: any(one["gpus"] for one in self.samples(run)))
        pid = supervisor_pid(self.rack, run, "node-1")
        smi = [
            child
            for child, parent in hardware.all_parents().items()
            if parent == pid and b"nvidia-smi" in Path(f"/proc/{child}/cmdline").read_bytes()
        ]
        os.kill(pid, 9)
        until(lambda: smi and not is_alive(smi[0]))

    def test_an_nvidia_smi_that_ends_is_told_of_and_changes_nothing_for_the_run(self):
        self.with_smi(rounds=2)
        self.rack.script("import os, time\nwhile not os.path.exists('over'): time.sleep(0.05)\n")
        run = self.rack.start(["node-1"], sample_seconds=0.1)
        until(lambda: [one for one in self.rack.events_of(run, "node-1") if one["event"] == "gpu metrics lost"])
        (self.rack.folder / "code" / "over").touch()
        self.assertEqual(self.rack.finish(run)["status"], "finished")
        self.assertEqual(
            [one["why"] for one in self.rack.events_of(run, "node-1") if one["event"] == "gpu metrics lost"],
            ["nvidia-smi ended with 9"],
        )

    def test_values_for_a_tracking_server_that_is_away_wait_in_the_spool(self):
        self.rack.script("import os, time\nwhile not os.path.exists('over'): time.sleep(0.05)\n")
        tracking = {
            "upstream": "http://127.0.0.1:9",
            "token": "t",
            "own_token": False,
            "authorization": None,
            "run_id": "r1",
            "experiment_id": "0",
            "artifact_uri": "mlflow-artifacts:/x",
        }
        run = self.rack.start(["node-1"], sample_seconds=0.2, tracking=tracking)
        journal = self.folder(run) / "spool" / "journal.jsonl"

        def kept():
            lines = journal.read_text().splitlines() if journal.exists() else []
            return [base64.b64decode(json.loads(line).get("body", "")).decode() for line in lines if line.endswith("}")]

        until(lambda: any("system/cpu_utilization_percentage" in body for body in kept()))
        (self.rack.folder / "code" / "over").touch()
        self.assertEqual(self.rack.finish(run)["status"], "finished")

    def test_a_sampler_that_fails_is_told_of_and_the_run_goes_on(self):
        self.rack.script("import os, time\nwhile not os.path.exists('over'): time.sleep(0.05)\n")
        run = f"test-{os.getpid()}-broken"
        (self.folder(run) / "hardware.jsonl").mkdir(parents=True)  # it cannot be written
        self.rack.start(["node-1"], run=run, sample_seconds=0.1)
        until(lambda: [one for one in self.rack.events_of(run, "node-1") if one["event"] == "sampler failed"])
        (self.rack.folder / "code" / "over").touch()
        self.assertEqual(self.rack.finish(run)["status"], "finished")


class CountsTest(unittest.TestCase):
    def test_the_counts_are_those_of_the_kernel(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            files = {
                "proc/stat": "cpu  100 10 40 800 50 0 0 0 30 0\ncpu0 1 1 1 1\n",
                "proc/meminfo": "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\n",
                "proc/net/dev": "Inter-|\n face |\n    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n  eth0:100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n  eth1: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n",
                "proc/diskstats": " 8 0 sda 5 0 10 0 5 0 20 0 0 0 0\n 8 1 sda1 5 0 10 0 5 0 20 0 0 0 0\n 253 0 dm-0 5 0 10 0 5 0 20 0 0 0 0\n",
                "sys/block/sda/device/model": "",
                "sys/block/dm-0/size": "8",
                "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data": "1000\n",
                "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data": "2000\n",
            }
            for file, text in files.items():
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text)
            self.assertEqual(
                hardware.machine("eth0", root),
                {
                    "cpu": [150, 1000],
                    "memory": 600 * 1024,
                    "net": [100, 200],
                    "rdma": [4000, 8000],
                    "disk": [5120, 10240],
                },
            )
            self.assertEqual(hardware.machine(None, root)["net"], [110, 220])

    def test_a_child_s_time_is_counted_also_after_its_end(self):
        parent = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'sum(range(8_000_000))'])\nprint(flush=True)\nsys.stdin.read()",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        tree = hardware.ProcessTree(parent.pid)
        parent.stdout.readline()
        counts = tree.read()
        self.assertEqual(counts["processes"], 1)
        own = sum(int(word) for word in hardware.stat_fields(Path(f"/proc/{parent.pid}"))[11:13]) / os.sysconf(
            "SC_CLK_TCK"
        )
        self.assertGreater(counts["cpu"], own + 0.05)
        parent.communicate()
        self.assertIsNone(tree.read())

    def test_a_child_of_another_thread_is_found_by_the_search(self):
        script = "import subprocess, sys, threading\nthread = threading.Thread(target=lambda: (subprocess.Popen(['sleep', '60']), print(flush=True), threading.Event().wait()), daemon=True)\nthread.start()\nsys.stdin.read()"
        parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        parent.stdout.readline()
        tree = hardware.ProcessTree(parent.pid)
        self.assertEqual(tree.read()["processes"], 1)
        self.assertEqual(tree.read(hardware.all_parents())["processes"], 2)
        self.assertEqual(tree.read()["processes"], 2)  # it is known from then on
        child = [pid for pid, above in hardware.all_parents().items() if above == parent.pid]
        for pid in child:
            os.kill(pid, 9)  # it has our pipe, too
        parent.communicate()

    def test_rates_are_differences_over_the_time_and_counters_that_began_anew_are_no_rates(self):
        gpus = {
            "0": {
                "uuid": "GPU-a",
                "used": 50.0,
                "memory": 7,
                "total": 9,
                "power": None,
                "limit": None,
                "temperature": 40.0,
            }
        }
        before = {
            "attempt": 1,
            "cpu": [100, 1000],
            "memory": 5,
            "net": [1000, 500],
            "rdma": None,
            "disk": [0, 0],
            "gpus": {},
            "ranks": {"0": {"cpu": 4.0, "rss": 1, "read": 10, "written": 0, "processes": 1}},
        }
        now = {
            "attempt": 1,
            "cpu": [150, 1200],
            "memory": 6,
            "net": [3000, 100],
            "rdma": None,
            "disk": [4096, 0],
            "gpus": gpus,
            "ranks": {
                "0": {"cpu": 6.0, "rss": 2, "read": 30, "written": 0, "processes": 3},
                "1": {"cpu": 1.0, "rss": 2, "read": 0, "written": 0, "processes": 1},
            },
        }
        self.assertEqual(
            difference(before, now, 2.0, 1700.0),
            {
                "t": 1700.0,
                "s": 2.0,
                "attempt": 1,
                "cpu": 25.0,
                "memory": 6,
                "net": [1000, 0],
                "rdma": None,
                "disk": [2048, 0],
                "ranks": {"0": [100.0, 2, 10, 0, 3], "1": [50.0, 2, 0, 0, 1]},
                "gpus": {"0": [50.0, 7, None, 40.0]},
            },
        )
        again = difference({**before, "attempt": 0}, now, 2.0, 1700.0)
        self.assertEqual(again["ranks"]["0"][0], 300.0)  # another attempt's rank of the same number

    def test_the_file_stays_small_and_keeps_the_whole_time_and_what_is_recent_as_it_was(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "hardware.jsonl")
            file = HardwareFile(path, limit=20_000)
            for index in range(3000):
                ranks = {"0": [float(index % 2), index, 0, 0, 1]} if index >= 1500 else {}
                file.append(
                    {
                        "t": index + 1.0,
                        "s": 1.0,
                        "attempt": 1,
                        "cpu": float(index % 2),
                        "memory": index,
                        "net": [10, 20],
                        "rdma": None,
                        "disk": [0, 0],
                        "ranks": ranks,
                        "gpus": {},
                    }
                )
                self.assertLess(path.stat().st_size, 21_000)
            samples = read_samples(path)
            self.assertEqual(sum(one["s"] for one in samples), 3000)
            self.assertEqual([one["t"] - one["s"] for one in samples[1:]], [one["t"] for one in samples[:-1]])
            self.assertEqual((samples[-1]["s"], last_sample(path)), (1.0, samples[-1]))
            self.assertGreater(samples[0]["s"], 100)
            self.assertAlmostEqual(samples[0]["cpu"], 0.5, 1)
            self.assertEqual({tuple(one["net"]) for one in samples}, {(10, 20)})
            self.assertEqual(list(Path(folder).iterdir()), [path])

    def test_two_samples_become_their_mean_by_time(self):
        one = {"t": 2.0, "s": 2.0, "attempt": 1, "cpu": 10.0, "ranks": {"0": [1.0, 100]}, "gpus": {"0": [None, 5]}}
        other = {"t": 3.0, "s": 1.0, "attempt": 2, "cpu": 40.0, "ranks": {"1": [2.0, 7]}, "gpus": {"0": [60.0, 8]}}
        self.assertEqual(
            merged(one, other),
            {
                "t": 3.0,
                "s": 3.0,
                "attempt": 2,
                "cpu": 20.0,
                "ranks": {"0": [1.0, 100], "1": [2.0, 7]},
                "gpus": {"0": [60.0, 6]},
            },
        )

    def test_lines_of_nvidia_smi_are_read_whatever_the_driver_does_not_tell(self):
        self.assertEqual(
            parse_row("3, GPU-x, 97, 2048, 81559, 412.30, 700.00, 58\n"),
            {
                "index": 3,
                "uuid": "GPU-x",
                "used": 97.0,
                "memory": 2 << 30,
                "total": 81559 << 20,
                "power": 412.3,
                "limit": 700.0,
                "temperature": 58.0,
            },
        )
        self.assertEqual(parse_row("0, GPU-y, [N/A], 10, 4096, [Not Supported], [N/A], 41")["power"], None)
        self.assertIsNone(parse_row("Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error"))

    def test_the_run_s_gpus_are_the_chosen_ones_else_the_reserved_else_slurm_s_else_all(self):
        self.assertEqual(gpus_of({"placed": [{"gpus": ["GPU-a"]}, {"gpus": ["GPU-b"]}]}, None), ["GPU-a", "GPU-b"])
        self.assertEqual(gpus_of({"placed": [{"gpus": []}]}, {"wants": {"gpus": ["GPU-z"]}}), [])
        self.assertEqual(gpus_of({}, {"wants": {"gpus": ["GPU-c"]}}), ["GPU-c"])
        self.assertEqual(
            gpus_of({"scheduler": "slurm"}, None, {"CUDA_VISIBLE_DEVICES": "0,2", "SLURM_JOB_GPUS": "0,2"}), ["0", "2"]
        )
        self.assertEqual(gpus_of({"scheduler": "slurm"}, None, {}), [])
        self.assertIsNone(gpus_of({}, None))

    def test_no_gpu_no_nvidia_smi(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "nvidia-smi").write_text("#!/bin/sh\ntouch $(dirname $0)/started\n")
            Path(folder, "nvidia-smi").chmod(0o755)
            old, os.environ["PATH"] = os.environ["PATH"], f"{folder}:{os.environ['PATH']}"
            try:
                reader = GpuReader([], 1.0, lambda why: self.fail(why))
                self.assertEqual(reader.latest(), {})
                reader.close()
            finally:
                os.environ["PATH"] = old
            self.assertFalse(Path(folder, "started").exists())


class SamplerTest(unittest.TestCase):
    def test_what_happens_before_its_thread_has_begun_counts(self):
        sent, may_begin = [1000], threading.Event()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(
                hardware,
                "machine",
                lambda _: {"cpu": [0, 0], "memory": 5, "net": [0, sent[0]], "rdma": None, "disk": [0, 0]},
            ),
            mock.patch("flexrack_node.measure.sampler.gpus_of", lambda *_: may_begin.wait() and []),
        ):
            sampler = Sampler(
                RunFolder(Path(folder)), {"address": "", "node": "node-1"}, SimpleNamespace(attempt=1, records={}), None
            )
            sampler.start()
            sent[0] += 64 << 20
            time.sleep(0.1)  # a look that comes sooner after another one is none
            may_begin.set()
            sampler.close()
            self.assertEqual(
                json.loads(Path(folder, "hardware.json").read_text())["attempts"]["1"]["net"], [0, 64 << 20]
            )

    def test_a_machine_that_cannot_be_looked_at_is_told_and_ends_nothing(self):
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(hardware, "machine", side_effect=OSError("no /proc")),
        ):
            sampler = Sampler(
                RunFolder(Path(folder)), {"address": "", "node": "node-1"}, SimpleNamespace(attempt=1, records={}), None
            )
            sampler.start()
            sampler.close()
            self.assertIn("no /proc", Path(folder, "events.jsonl").read_text())
            self.assertFalse(Path(folder, "hardware.json").exists())


class SystemMetricsTest(unittest.TestCase):
    SAMPLE = {
        "cpu": 42.04,
        "memory": 5_000_000_000,
        "ranks": {"3": [180.0, 2_000_000, 0, 0, 2]},
        "gpus": {"1": [75.0, 1_000_000_000, 200.0, None]},
    }
    TOTALS = {"net": [3_000_000.0, 1_500_000.0], "disk": [0.0, 9_000_000.0]}

    def test_values_have_mlflow_s_names_and_units_with_the_node_where_there_are_several(self):
        values = system_metrics.named(self.SAMPLE, self.TOTALS, {"1": {"total": 4_000_000_000, "limit": 400.0}}, "")
        self.assertEqual(
            values,
            {
                "system/cpu_utilization_percentage": 42.0,
                "system/system_memory_usage_megabytes": 5000.0,
                "system/network_receive_megabytes": 3.0,
                "system/network_transmit_megabytes": 1.5,
                "system/disk_read_megabytes": 0.0,
                "system/disk_write_megabytes": 9.0,
                "system/rank_3_process_cpu_percentage": 180.0,
                "system/rank_3_process_memory_rss_megabytes": 2.0,
                "system/gpu_1_utilization_percentage": 75.0,
                "system/gpu_1_memory_usage_megabytes": 1000.0,
                "system/gpu_1_memory_usage_percentage": 25.0,
                "system/gpu_1_power_usage_watts": 200.0,
                "system/gpu_1_power_usage_percentage": 50.0,
            },
        )
        self.assertIn(
            "system/gpu-7/cpu_utilization_percentage", system_metrics.named(self.SAMPLE, self.TOTALS, {}, "gpu-7")
        )

    def test_many_nodes_and_long_runs_log_less_often(self):
        self.assertEqual(system_metrics.Pace(1).seconds(40), 10.0)
        self.assertEqual(system_metrics.Pace(100).seconds(50), 100.0)
        pace, now, week = system_metrics.Pace(1), 0.0, 7 * 24 * 3600.0
        while now < week:
            now += pace.seconds(40)
            pace.logged()
        self.assertLess(pace.logged(), 12_000)
        self.assertEqual(
            [len(part) for part in system_metrics.batches({f"m{index}": 1.0 for index in range(2000)}, 1.5, 7)],
            [900, 900, 200],
        )
