"""What a profile tells, on traces whose sums are known."""

import gzip
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from flexrack_node.watch import trace


def event(name, cat, ts, dur, tid=1):
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "pid": 7, "tid": tid}


STEPS = [event("ProfilerStep#3", "user_annotation", 1000, 1000), event("ProfilerStep#4", "user_annotation", 2000, 1000)]


class TraceTest(unittest.TestCase):
    def test_steps_data_and_operators_of_their_own(self):
        events = [
            *STEPS,
            event("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "user_annotation", 1000, 300),
            event("aten::linear", "cpu_op", 1300, 200),
            event("aten::addmm", "cpu_op", 1310, 150),
            event("aten::addmm", "cpu_op", 1500, 50),
            event("aten::mm", "cpu_op", 1300, 100, tid=2),  # another thread is inside of nothing here
            event("before", "cpu_op", 900, 50),
            event("after", "cpu_op", 3000, 50),
        ]
        found = trace.summarize(events)
        self.assertEqual((found["steps"], found["seconds"], found["device"], found["kernels"]), (2, 0.002, None, []))
        self.assertAlmostEqual(found["data_wait"], 3e-4)
        self.assertEqual(
            [
                (one["name"], one["calls"], round(one["self"] * 1e6), round(one["total"] * 1e6))
                for one in found["operators"]
            ],
            [("aten::addmm", 2, 200, 200), ("aten::mm", 1, 100, 100), ("aten::linear", 1, 50, 200)],
        )

    def test_an_operator_inside_of_itself_is_counted_once_in_the_total(self):
        found = trace.operators([event("aten::to", "cpu_op", 0, 100), event("aten::to", "cpu_op", 10, 50)])
        self.assertEqual(
            [(one["calls"], round(one["self"] * 1e6), round(one["total"] * 1e6)) for one in found], [(2, 100, 100)]
        )

    def test_the_gpu_is_idle_where_neither_kernel_nor_copy_runs_and_collectives_overlap_with_kernels(self):
        found = trace.summarize(
            [
                *STEPS,
                event("gemm", "kernel", 1100, 400, tid=20),
                event("ncclDevKernel_AllReduce", "kernel", 1300, 400, tid=21),
                event("Memcpy HtoD", "gpu_memcpy", 2500, 100, tid=22),
                event("nccl:all_reduce", "user_annotation", 1250, 10),  # only the launch of it
            ]
        )
        self.assertAlmostEqual(found["device"]["busy"], 7e-4)
        self.assertEqual(
            (
                found["collectives"]["count"],
                round(found["collectives"]["seconds"] * 1e6),
                round(found["collectives"]["overlapped"] * 1e6),
            ),
            (1, 400, 200),
        )
        self.assertEqual([one["name"] for one in found["kernels"]][-1], "Memcpy HtoD")

    def test_on_the_cpu_what_waits_in_the_collective_overlaps_with_nothing(self):
        found = trace.summarize(
            [
                *STEPS,
                event("gloo:all_reduce", "user_annotation", 1200, 400, tid=9),
                event("c10d::allreduce_", "cpu_op", 1190, 410),
                event("aten::add", "cpu_op", 1500, 300),
            ]
        )
        self.assertEqual(
            (round(found["collectives"]["seconds"] * 1e6), round(found["collectives"]["overlapped"] * 1e6)), (400, 100)
        )

    def test_files_that_are_no_trace_say_so(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rank-0.trace.json.gz"
            for text, problem in [("[]", AttributeError), ('{"traceEvents": 3}', ValueError), ("{", ValueError)]:
                path.write_bytes(gzip.compress(text.encode()))
                with self.assertRaises(problem):
                    trace.load(path)
            path.write_bytes(b"no gzip")
            with self.assertRaises(OSError):
                trace.load(path)
            path.write_bytes(gzip.compress(json.dumps({"traceEvents": []}).encode()))
            with self.assertRaisesRegex(ValueError, "no whole step"):
                trace.summarize(trace.load(path))
            with mock.patch.object(trace, "MOST_BYTES", 4), self.assertRaises(trace.TooLarge):
                trace.load(path)


if __name__ == "__main__":
    unittest.main()
