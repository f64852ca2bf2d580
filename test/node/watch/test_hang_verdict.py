"""Who keeps the others waiting: the judgement, on what ranks looked like."""

import json
import unittest

from flexrack_node.watch.flight import parse as parse_flight
from flexrack_node.watch.hang import is_hanging
from flexrack_node.watch.hang_watch import patience_of
from flexrack_node.watch.stacks import parse, parse_py_spy
from flexrack_node.watch.straggler import report
from flexrack_node.watch.verdict import verdict

LIB = "/env/lib/python3.11/site-packages/torch/distributed.py"


def rank(number, collective="", count=812, cpu=0.0, state="S", frames=(), data_since=0.0, wchan=None):
    threads = [
        {
            "main": True,
            "name": None,
            "frames": [{"file": file, "line": line, "function": function} for file, line, function in frames],
        }
    ]
    return {
        "rank": number,
        "node": f"node-{number // 2 + 1}",
        "state": state,
        "cpu": cpu,
        "cwd": "/code",
        "threads": threads,
        "kernel": {"wchan": wchan, "stack": []},
        "progress": {"collective": collective, "collectives": count, "data_since": data_since},
    }


class VerdictTest(unittest.TestCase):
    def test_the_rank_in_no_collective_is_missing_and_told_with_its_own_line(self):
        others = [rank(number, "all_reduce") for number in (0, 1, 3)]
        late = rank(
            2,
            count=811,
            data_since=1.0,
            frames=[(LIB, 5, "read"), ("/code/train.py", 88, "next_batch"), ("/code/train.py", 120, "main")],
        )
        found = verdict([*others, late], {}, {0: 301.0, 2: 300.0})
        self.assertEqual(
            found["message"],
            "ranks 0, 1, 3 wait in all_reduce #812; rank 2 (node-2) has not come: it is in data loading, train.py:88 in next_batch",
        )
        self.assertEqual(found["waiting"], [{"collective": "all_reduce", "number": 812, "ranks": [0, 1, 3]}])
        self.assertEqual(
            found["lines"],
            [
                "rank 2: torch/distributed.py:5 in read",
                "rank 2: train.py:88 in next_batch",
                "rank 2: train.py:120 in main",
            ],
        )
        self.assertEqual(found["seconds"], 301.0)

    def test_a_rank_in_an_earlier_collective_than_the_others_is_behind(self):
        found = verdict([rank(0, "barrier"), rank(1, "all_reduce", 811), rank(2, "barrier")], {}, {})
        self.assertEqual([one["rank"] for one in found["suspects"]], [1])
        self.assertIn(
            "ranks 0, 2 wait in barrier #812; rank 1 (node-1) has not come: it is in all_reduce #811", found["message"]
        )

    def test_one_that_computes_inside_the_collective_of_all_is_the_suspect(self):
        found = verdict([rank(0, "DDP gradients"), rank(1, "DDP gradients", cpu=1.0), rank(2, "DDP gradients")], {}, {})
        self.assertEqual([one["rank"] for one in found["suspects"]], [1])

    def test_where_nobody_is_missing_nobody_is_accused(self):
        found = verdict([rank(0, "all_reduce"), rank(1, "all_reduce")], {}, {})
        self.assertEqual(found["suspects"], [])
        self.assertIn("no rank is missing: the network", found["message"])

    def test_a_stopped_rank_is_the_suspect_also_inside_a_collective(self):
        found = verdict([rank(0, "all_reduce"), rank(1, "all_reduce", state="T")], {}, {})
        self.assertEqual([(one["rank"], one["why"]) for one in found["suspects"]], [(1, "is stopped (SIGSTOP)")])

    def test_a_rank_that_waits_for_a_device_says_so(self):
        found = verdict(
            [
                rank(0, "all_reduce"),
                rank(1, state="D", wchan="nfs_wait_bit_killable", frames=[("/code/train.py", 9, "save")]),
            ],
            {},
            {},
        )
        self.assertIn(
            "it waits for a device or a file system (nfs_wait_bit_killable), train.py:9 in save", found["message"]
        )

    def test_many_ranks_at_the_same_place_are_told_once(self):
        stuck = [
            rank(number, frames=[("/usr/lib/python3.11/threading.py", 320, "wait"), ("/code/train.py", 7, "load")])
            for number in range(4, 8)
        ]
        found = verdict([*[rank(number, "barrier") for number in range(4)], *stuck], {}, {})
        self.assertEqual(
            found["message"],
            "ranks 0-3 wait in barrier #812; ranks 4-7 have not come: each waits for a lock or another thread, train.py:7 in load",
        )

    def test_where_no_rank_says_that_it_waits_the_flight_recorder_tells_who_has_queued_less(self):
        ranks = [
            {
                **rank(number, frames=[("/code/train.py", 5, "main")]),
                "flight": {"queued": 12 if number != 2 else 11, "name": "all_reduce"},
            }
            for number in range(4)
        ]
        found = verdict(ranks, {}, {})
        self.assertEqual(
            found["message"],
            "ranks 0, 1, 3 wait in all_reduce #12; rank 2 (node-2) has not come: it waits, train.py:5 in main",
        )
        self.assertEqual(len(verdict([{**one, "flight": None} for one in ranks], {}, {})["suspects"]), 4)

    def test_the_flight_recorders_json_is_read_by_the_default_group_and_rubbish_is_not(self):
        entry = {
            "profiling_name": "gloo:all_reduce",
            "collective_seq_id": 11,
            "process_group": ["0", "default_pg"],
            "state": "scheduled",
            "is_p2p": False,
        }
        text = json.dumps(
            [
                {
                    "pg_status": {"0": {"last_enqueued_collective": "11", "last_completed_collective": "9"}},
                    "entries": [entry],
                },
                {"pg_status": {}},
            ]
        )
        self.assertEqual(parse_flight(text), {"queued": 11, "name": "all_reduce"})
        for bad in ("", "[]", "{}", "[1]", "[{}]", '[{"pg_status": {"0": {"last_enqueued_collective": "x"}}}]'):
            self.assertIsNone(parse_flight(bad), bad)

    def test_a_rank_that_has_ended_is_missing_too(self):
        self.assertEqual(
            verdict([rank(0, "barrier")], {1: 0}, {})["message"],
            "rank 0 waits in barrier #812; rank 1 has ended already",
        )


class StalledTest(unittest.TestCase):
    def observed(self, stalled, watched):
        return {"watch": {"stalled": {str(one): parts for one, parts in stalled.items()}, "watched": watched}}

    def test_waiting_ranks_alone_are_no_hang_until_they_have_waited_very_long(self):
        waits, works = {"waits": True, "long": False}, {"waits": False, "long": False}
        self.assertFalse(is_hanging({"a": self.observed({0: waits}, [0]), "b": self.observed({}, [1])}))
        self.assertTrue(is_hanging({"a": self.observed({0: waits}, [0]), "b": self.observed({1: waits}, [1])}))
        self.assertTrue(is_hanging({"a": self.observed({0: waits}, [0]), "b": self.observed({1: works}, [1, 2])}))
        self.assertTrue(
            is_hanging({"a": self.observed({0: {**waits, "long": True}}, [0]), "b": self.observed({}, [1])})
        )
        self.assertFalse(is_hanging({"a": self.observed({}, [0])}))

    def test_patience_grows_with_the_steps_with_work_and_before_the_first_step(self):
        self.assertEqual(patience_of(300, {"steps": 5, "median_step": 0.1}, False, False), 300)
        self.assertEqual(patience_of(300, {"steps": 5, "median_step": 90.0}, True, False), 900)
        self.assertEqual(patience_of(300, {"steps": 5, "median_step": 0.1}, False, True), 900)
        # NCCL's waiting takes CPU too
        self.assertEqual(patience_of(300, {"steps": 5, "median_step": 0.1}, True, True), 300)
        self.assertEqual(patience_of(300, {}, False, False), 1800)
        self.assertIsNone(patience_of(300, {"steps": 0}, False, True))


class ParseTest(unittest.TestCase):
    def test_faulthandlers_text_is_read_main_thread_first(self):
        text = (
            'Thread 0x00007f10 (most recent call first):\n  File "/usr/lib/python3.11/threading.py", line 320 in wait\n\n'
            "Thread 0x00007f11 [worker] (most recent call first):\n  <no Python frame>\n\n"
            'Current thread 0x00007f12 (most recent call first):\n  File "/code/a b.py", line 3 in <module>\n  File "x", line ??? in y\n'
        )
        threads = parse(text)
        self.assertEqual(
            [(one["main"], one["name"], len(one["frames"])) for one in threads],
            [(True, None, 2), (False, None, 1), (False, "worker", 0)],
        )
        self.assertEqual(
            threads[0]["frames"],
            [{"file": "/code/a b.py", "line": 3, "function": "<module>"}, {"file": "x", "line": None, "function": "y"}],
        )

    def test_py_spys_json_is_read_the_same_way(self):
        text = '[{"thread_name": "w", "frames": []}, {"thread_name": "MainThread", "frames": [{"name": "f", "filename": "/a.py", "line": 4}]}]'
        nameless = '[{"pid": 7, "os_thread_id": 8, "thread_name": null, "frames": []}, {"pid": 7, "os_thread_id": 7, "thread_name": null, "frames": []}]'
        self.assertEqual([one["main"] for one in parse_py_spy(nameless)], [True, False])
        self.assertEqual(
            parse_py_spy(text)[0],
            {"main": True, "name": "MainThread", "frames": [{"file": "/a.py", "line": 4, "function": "f"}]},
        )


def pace(own, step=0.05, steps=100, data=0.0, cpu_wait=0.0, throttled=0.0, collectives=0.01):
    return {
        "steps": steps,
        "step": step,
        "own": own,
        "data": data,
        "collectives": collectives,
        "samples": 0,
        "synced": True,
        "cpu_wait": cpu_wait,
        "throttled": throttled,
    }


class StragglerTest(unittest.TestCase):
    def slowest(self, **nodes):
        return report({node: {str(rank): one for rank, one in ranks.items()} for node, ranks in nodes.items()})[
            "slowest"
        ]

    def test_in_lock_step_the_rank_with_the_longest_time_outside_of_collectives_is_the_slow_one(self):
        found = self.slowest(a={0: pace(0.01), 1: pace(0.045, data=0.036)}, b={2: pace(0.01), 3: pace(0.011)})
        self.assertEqual((found["rank"], found["node"], found["others"]), (1, "a", 0.01))
        self.assertEqual(
            found["message"],
            "rank 1 (a) needs 45 ms a step outside of collectives, the others 10 ms: it waits for data (36 ms a step); they wait for it 70 % of the time",
        )

    def test_a_difference_that_costs_little_is_not_worth_telling(self):
        self.assertIsNone(self.slowest(a={0: pace(0.001), 1: pace(0.002)}))  # twice as long, and 2 % of a step
        self.assertIsNone(self.slowest(a={0: pace(0.04), 1: pace(0.045)}))
        self.assertIsNone(self.slowest(a={0: pace(0.01, steps=5), 1: pace(0.045, steps=5)}))
        self.assertIsNone(report({"a": {}}))

    def test_reasons_are_the_cpu_and_the_node_where_they_explain_it(self):
        self.assertIn("it waits for a free CPU", self.slowest(a={0: pace(0.01), 1: pace(0.045, cpu_wait=0.03)})["why"])
        self.assertIn("limited by its cgroup", self.slowest(a={0: pace(0.01), 1: pace(0.045, throttled=0.03)})["why"])
        self.assertIn(
            "all ranks of b are slow",
            self.slowest(a={0: pace(0.01), 1: pace(0.01), 4: pace(0.01)}, b={2: pace(0.04), 3: pace(0.045)})["why"],
        )
        self.assertEqual(self.slowest(a={0: pace(0.01), 1: pace(0.045)})["why"], "it computes longer")

    def test_that_others_wait_is_told_where_ranks_meet_in_a_few_steps_only(self):
        rarely = {"collectives": 0.0}
        self.assertIn(
            "they wait for it 70 %", self.slowest(a={0: pace(0.01, **rarely), 1: pace(0.045, **rarely)})["message"]
        )
        never = {**pace(0.01), "synced": False}, {**pace(0.045), "synced": False}
        self.assertNotIn("they wait", self.slowest(a=dict(enumerate(never)))["message"])
