"""Which folder is this machine's, where machines share a home."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from flexrack_node.base import home, installed, shared_lock
from flexrack_node.base.channel import Channel
from flexrack_node.workspace import environment, environment_users
from places import NODE
from waiting import LONG

ALPHA = {"host": "alpha", "machine": "a" * 32, "addresses": ["02:00:00:00:00:01", "02:00:00:00:00:02"]}
CLAIMS = """import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from flexrack_node.base import home
sys.stdin.readline()
print(home.own_folder(Path(sys.argv[2]), json.loads(sys.argv[3])))
"""


def machine(host, number=None, **parts):
    number = number or host
    return {"host": host, "machine": f"{number}".encode().hex().ljust(32, "0"), "addresses": [f"02:{number}"], **parts}


class SameTest(unittest.TestCase):
    def test_two_of_three_facts_make_a_machine_the_same(self):
        for changed in (
            {"host": "renamed"},
            {"machine": "b" * 32},
            {"addresses": ["02:00:00:00:00:09"]},
            {"addresses": ["02:00:00:00:00:02"]},
            {"addresses": []},
        ):
            self.assertTrue(home.is_same({**ALPHA, **changed}, ALPHA), changed)

    def test_one_alone_does_not(self):
        clone = {**machine("beta"), "machine": ALPHA["machine"]}
        namesake = {**machine("beta"), "host": "alpha"}
        container = {"host": "0d5e1f", "machine": ALPHA["machine"], "addresses": []}
        for other in (clone, namesake, container, machine("beta"), {"host": "", "machine": "", "addresses": []}):
            self.assertFalse(home.is_same(other, ALPHA), other)
            self.assertFalse(home.is_same(ALPHA, other), other)

    def test_where_only_one_is_known_it_decides(self):
        bare = {"host": "pod-0", "machine": "", "addresses": []}
        self.assertTrue(home.is_same(bare, dict(bare)))
        self.assertFalse(home.is_same(bare, {**bare, "host": "pod-1"}))

    def test_the_facts_of_this_machine_are_its_own_and_the_pooled_are_one(self):
        self.assertEqual(home.facts()["host"], os.uname().nodename)
        self.assertTrue(home.is_same(home.facts(), home.facts()))
        self.assertEqual(home.facts(one_for_all=True), home.facts(one_for_all=True))
        self.assertFalse(home.is_same(home.facts(one_for_all=True), home.facts()))


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-home-")))
        self.addCleanup(shutil.rmtree, self.folder)
        self.root = self.folder / "root"

    def test_the_first_has_the_root_and_others_a_folder_each_by_their_names(self):
        self.assertEqual(home.own_folder(self.root, ALPHA), self.root)
        beta = home.own_folder(self.root, machine("beta.example.org"))
        self.assertEqual(beta, self.root / "nodes" / "beta")
        self.assertEqual(home.own_folder(self.root, machine("beta", 7)), self.root / "nodes" / "beta-2")
        self.assertEqual(home.own_folder(self.root, machine("../é x", 8)), self.root / "nodes" / "node")
        self.assertEqual(
            [home.own_folder(self.root, one) for one in (ALPHA, machine("beta.example.org"))], [self.root, beta]
        )
        self.assertEqual([home.shared_root(one) for one in (self.root, beta)], [self.root, self.root])
        self.assertEqual(home.others(beta), [self.root, self.root / "nodes" / "beta-2", self.root / "nodes" / "node"])

    def test_what_was_there_before_anybody_claimed_it_belongs_to_who_comes_first(self):
        installed.record(self.root, self.root / "runs", "runs")
        self.assertEqual(home.own_folder(self.root, ALPHA), self.root)

    def test_a_machine_whose_facts_change_one_by_one_keeps_its_folder(self):
        home.own_folder(self.root, ALPHA)
        beta = home.own_folder(self.root, machine("beta"))
        for now in (
            machine("beta", addresses=["02:new"]),
            machine("beta", machine="c" * 32, addresses=["02:new"]),
            {"host": "gamma", "machine": "c" * 32, "addresses": ["02:new"]},
        ):
            self.assertEqual(home.own_folder(self.root, now), beta)
            self.assertEqual((beta / "machine").read_text().split("\n")[0], f"{now['host']} {now['machine']}")
        self.assertEqual(home.shared_root(beta), self.root)

    def test_who_has_a_folder_keeps_it_when_the_root_is_free_again(self):
        home.own_folder(self.root, ALPHA)
        beta = home.own_folder(self.root, machine("beta"))
        (self.root / "machine").unlink()
        self.assertEqual(home.own_folder(self.root, machine("beta")), beta)
        self.assertEqual(home.shared_root(beta), self.root)
        self.assertEqual(home.own_folder(self.root, machine("gamma")), self.root)

    def test_of_many_that_come_at_once_each_gets_one_and_nobody_anothers(self):
        import json

        wanted = [machine(f"m{number % 6}") for number in range(18)]  # three connections to each of six
        self.root.mkdir()
        running = [
            subprocess.Popen(
                [sys.executable, "-c", CLAIMS, str(NODE), str(self.root), json.dumps(one)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for one in wanted
        ]
        for one in running:
            one.stdin.write("\n")
            one.stdin.flush()
        got = [one.communicate(timeout=LONG)[0].strip() for one in running]
        self.assertEqual(got[:6], got[6:12])
        self.assertEqual(got[:6], got[12:])
        self.assertEqual(len(set(got)), 6)
        self.assertIn(str(self.root), got)
        self.assertEqual([path.name for path in self.root.rglob(".machine*")], [])


class EnvironmentsTest(unittest.TestCase):
    """Two machines with one folder of environments: what the other one uses stays."""

    def setUp(self):
        folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="flexrack-home-")))
        self.addCleanup(shutil.rmtree, folder)
        self.root = folder / "root"
        self.alpha = Channel(home.own_folder(self.root, ALPHA), self.root / "environments", sys.stdin.buffer)
        self.beta = Channel(home.own_folder(self.root, machine("beta")), self.root / "environments", sys.stdin.buffer)

    def test_what_another_machine_uses_stays_until_it_has_left(self):
        made = environment.ensure({"requirements": "", "user": "workspace:digits"}, self.beta)
        self.assertFalse(environment.ensure({"requirements": "", "user": "head"}, self.alpha)["built"])
        environment_users.release({"user": "head"}, self.alpha)
        self.assertEqual([one["hash"] for one in environment.remove({}, self.alpha)["kept"]], [made["hash"]])
        self.assertEqual(environment.remove({"hashes": [made["hash"]]}, self.alpha)["removed"], [])
        shutil.rmtree(self.beta.root)  # as when somebody removes what a machine has left that is no more
        self.assertEqual(environment.remove({}, self.alpha)["removed"], [made["hash"]])

    def test_the_old_environment_of_a_workspace_stays_used_while_something_runs_from_it(self):
        old = environment.ensure({"requirements": "", "constraints": "alpha<2", "user": "workspace:digits"}, self.beta)
        rank = subprocess.Popen([f"{old['path']}/bin/python", "-c", "import time; time.sleep(600)"])
        try:
            environment.ensure({"requirements": "", "user": "workspace:digits"}, self.beta)
            # What alpha would see of processes, were it another machine: nothing.
            found, environment.processes_from = environment.processes_from, lambda path: []
            try:
                self.assertEqual(environment.remove({"dry_run": True}, self.alpha)["removed"], [])
            finally:
                environment.processes_from = found
            self.assertEqual(environment.remove({"dry_run": True}, self.beta)["removed"], [])
        finally:
            rank.kill()
            rank.wait()
        self.assertEqual(environment.remove({}, self.beta)["removed"], [old["hash"]])


class LockTest(unittest.TestCase):
    def test_a_lock_counts_for_those_of_posix_as_an_nfs_server_sees_them_and_survives_another_descriptor(self):
        import fcntl

        with tempfile.NamedTemporaryFile() as file:
            with open(file.name, "r+b") as held, open(file.name, "r+b") as second:
                self.assertTrue(shared_lock.take(held.fileno()))
                with open(file.name, "r+b"):
                    pass  # closing it would end a lock of POSIX that belongs to the process
                self.assertFalse(shared_lock.take(second.fileno()))
                self.assertFalse(shared_lock.take(second.fileno(), shared=True))
                with self.assertRaises(OSError):
                    fcntl.lockf(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shared_lock.let_go(held.fileno())
                self.assertTrue(shared_lock.take(second.fileno(), shared=True))
                self.assertTrue(shared_lock.take(held.fileno(), shared=True))
