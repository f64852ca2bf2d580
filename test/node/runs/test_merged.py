"""Several ranks' logs as one, as the rack's page shows them."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base.errors import NodeError
from flexrack_node.run.files import RunFolder
from flexrack_node.runs import merged


class Merged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_folder = RunFolder(Path(folder.name) / "digits-ab12c")
        self.run_folder.attempt(1).mkdir(parents=True)
        self.sizes, self.time = {}, 1000

    def _look(self, **texts):
        """Every rank writes something (`r0=b"..."`), then the sampler looks, a second after it last did."""
        for name, data in texts.items():
            with open(self.run_folder.attempt(1) / f"rank-{name[1:]}.log", "ab") as file:
                file.write(data)
            self.sizes[name[1:]] = self.sizes.get(name[1:], 0) + len(data)
        self.time += 1
        line = {"schema": 1, "t": float(self.time), "s": 1.0, "attempt": 1, "logs": self.sizes}
        with open(self.run_folder.path / "hardware.jsonl", "a") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self, live=False, **given):
        return merged.read([self.run_folder], {"run": "digits-ab12c", **given}, live)

    def _told(self, read):
        return [(piece["t"] // 1000 - 1000, piece["rank"], piece["text"]) for piece in read["pieces"]]

    def test_what_was_written_between_two_looks_stands_together_rank_by_rank(self):
        self._look(r0=b"a0\n", r1=b"a1\n")
        self._look(r1=b"b1\nhalf")
        self._look(r0=b"c0\n", r1=b" a line\n")
        read = self._read()
        told = [(1, 0, "a0\n"), (1, 1, "a1\n"), (2, 1, "b1\n"), (3, 0, "c0\n"), (3, 1, "half a line\n")]
        self.assertEqual(self._told(read), told)
        self.assertEqual((read["from"], read["to"], read["live"], read["ranks"]), (0, 1_003_000, False, [0, 1]))
        self.assertEqual(self._told(self._read(ranks=[1])), [one for one in told if one[1] == 1])
        self.assertEqual(self._told(self._read(before=1_001_000)), told[:2])

    def test_what_comes_after_the_last_look_is_there_once_the_run_is_over_and_after_the_next_look_before(self):
        self._look(r0=b"a\n")
        log = self.run_folder.attempt(1) / "rank-0.log"
        log.write_bytes(b"a\nend")
        os.utime(log, (1005, 1005))
        self.assertEqual(self._told(self._read(live=True)), [(1, 0, "a\n")])
        self.assertEqual(self._told(self._read()), [(1, 0, "a\n"), (5, 0, "end")])

    def test_from_place_to_place_nothing_is_lost_or_doubled(self):
        for number in range(60):
            self._look(
                **{f"r{rank}": f"step {number} of {rank} ü{'.' * 3000}\n".encode() * (rank + 1) for rank in range(3)}
            )
        for given in ({}, {"only": "Ü".lower()}):
            got, at, rounds = {0: "", 1: "", 2: ""}, 0, 0
            while True:
                read = self._read(**{"from": at, **given})
                self.assertEqual(read["from"], at)
                for piece in read["pieces"]:
                    got[piece["rank"]] += piece["text"]
                at, rounds = read["to"], rounds + 1
                if not read["live"]:
                    break
            self.assertGreater(rounds, 3)
            for rank, text in got.items():
                self.assertEqual(text, (self.run_folder.attempt(1) / f"rank-{rank}.log").read_text(), rank)
        back, before = [], None
        while before != 0:
            read = self._read(before=before)
            back, before = read["pieces"] + back, read["from"]
        self.assertEqual("".join(one["text"] for one in back if one["rank"] == 2), got[2])

    def test_the_first_failure_of_any_rank_is_found_and_a_text_one_after_the_other(self):
        for number in range(5):
            self._look(r0=b"fine\n", r1=b"ValueError: boom\n" if number in (2, 4) else b"fine, too\n")
        read = self._read(failure=True)
        self.assertEqual((read["found"], read["from"]), (1_003_000, 1_001_000))
        self.assertIn("ValueError", "".join(text for _, _, text in self._told(read)))
        first = self._read(search="valueerror")
        second = self._read(search="valueerror", after=first["found"])
        self.assertEqual((first["found"], second["found"]), (1_003_000, 1_005_000))
        self.assertIsNone(self._read(search="valueerror", after=second["found"])["found"])

    def test_lines_with_a_text_alone(self):
        self._look(r0=b"Loss 1\nother\nloss 2", r1=b"none\n")
        self._look(r0=b"\n" + b"x\n" * 100_000 + b"LOSS 3\n")
        told = [(1, 0, "Loss 1\n"), (2, 0, "loss 2\nLOSS 3\n")]
        self.assertEqual(self._told(self._read(only="loss")), told)
        self.assertEqual(self._told(self._read(only="LOSS")), [(2, 0, "LOSS 3\n")])

    def test_a_flood_hides_no_other_rank_and_says_so(self):
        self._look(r0=b"flood\n" * 100_000, r1=b"drop\n")
        pieces = self._read()["pieces"]
        self.assertIn("rank 0 wrote more", pieces[0]["text"].splitlines()[-1])
        self.assertEqual(pieces[1]["text"], "drop\n")

    def test_empty_logs_and_none_at_all(self):
        with self.assertRaises(NodeError) as raised:
            self._read()
        self.assertEqual(raised.exception.code, "NOT_FOUND")
        self._look(r0=b"")
        self.assertEqual(self._read()["pieces"], [])
        self.assertIsNone(self._read(failure=True)["found"])
