import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent))

from run_support import PROGRAM  # noqa: E402

from flexrack_node import reservation_life  # noqa: E402
from flexrack_node.channel import Channel  # noqa: E402
from flexrack_node.errors import NodeError  # noqa: E402
from flexrack_node.gpu_ids import gpu_ids  # noqa: E402
from flexrack_node.reservation import confirm, listing, release, renew, take  # noqa: E402
from flexrack_node.reservation_hold import Hold  # noqa: E402
from flexrack_node.reservation_life import holder, is_counting  # noqa: E402
from flexrack_node.reservation_place import Place, open_place  # noqa: E402
from flexrack_node.reservation_rules import conflict, in_the_way  # noqa: E402

FORK = multiprocessing.get_context("fork")


class Case(unittest.TestCase):
    """A folder of reservations, and flexrack's folder of one node."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="flexrack-reservation-"))
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.shared = self.folder / "shared"
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        environment = mock.patch.dict(os.environ, {"FLEXRACK_RESERVATIONS": str(self.shared)})
        environment.start()
        self.addCleanup(environment.stop)
        self.channel = self.node("root")
        self.place = open_place(self.channel.root)

    def node(self, name):
        return Channel(self.folder / name, self.folder / "environments", sys.stdin.buffer)

    def ask(self, lease, channel=None, exclusive=True, **parts):
        return take({"lease": lease, "owner": f"{lease}@here", "project": "p", "node": "n", "nodes": ["n"], "ttl": 20,
                     "wants": {"gpus": [], "slots": 1, "exclusive": exclusive}, **parts}, channel or self.channel)

    def held(self):
        return [(one["lease"], one["state"]) for one in listing(None, self.channel)["reservations"]]

    def rewrite(self, lease, **parts):
        """Changes a record from outside, as a crash, another boot or somebody hostile would."""
        record = self.place.read_own(lease, self.channel.root)
        self.place.write({**record, **parts})


class RulesTest(unittest.TestCase):
    def record(self, lease, state="running", since=1, gpus=(), exclusive=False, domain="d", uid=1):
        return {"lease": lease, "state": state, "since": since, "domain": domain, "uid": uid, "wants": {"gpus": list(gpus), "slots": 1, "exclusive": exclusive}}

    def test_runs_share_a_node_and_nothing_else(self):
        a, b = self.record("a"), self.record("b")
        self.assertIsNone(conflict(a, b))
        self.assertEqual(conflict(self.record("a", exclusive=True), b), "the whole node")
        self.assertEqual(conflict(a, self.record("b", exclusive=True)), "the whole node")
        self.assertIsNone(conflict(self.record("a", exclusive=True), self.record("b", domain="other", exclusive=True)))
        self.assertEqual(conflict(self.record("a", gpus=["x", "y"]), self.record("b", domain="other", gpus=["y"])), "GPU y")
        self.assertIsNone(conflict(self.record("a", gpus=["x"]), self.record("b", gpus=["y"])))

    def test_two_parts_of_one_lease_go_together_but_not_those_of_two_users(self):
        self.assertIsNone(conflict(self.record("a", exclusive=True), self.record("a", exclusive=True)))
        self.assertIsNotNone(conflict(self.record("a", exclusive=True), self.record("a", exclusive=True, uid=2)))

    def test_only_who_came_first_is_in_the_way_while_waiting(self):
        wanted = self.record("b", "waiting", since=5, exclusive=True)
        early, late = self.record("c", "waiting", since=4, exclusive=True), self.record("a", "waiting", since=6, exclusive=True)
        same = self.record("a", "waiting", since=5, exclusive=True)
        self.assertEqual([one["lease"] for one in in_the_way(wanted, [early, late])], ["c"])
        self.assertEqual([one["lease"] for one in in_the_way(wanted, [early, {**late, "state": "running"}])], ["a", "c"])
        self.assertEqual(in_the_way(wanted, [{**early, "state": "running"}]), [{**early, "state": "running", "over": "the whole node"}])
        # The same moment: the name decides, and on every node alike.
        self.assertEqual((len(in_the_way(wanted, [same])), in_the_way(same, [wanted])), (1, []))


class LifeTest(unittest.TestCase):
    def setUp(self):
        self.record = {"state": "prepared", "heartbeat": 100.0, "ttl": 20, "boot": "b", "pidns": reservation_life.pid_namespace(), "holders": [], "uid": os.geteuid()}

    def test_it_ends_by_itself_when_it_is_not_renewed(self):
        self.assertEqual([is_counting(self.record, at, "b") for at in (100.0, 119.9, 120.1)], [True, True, False])

    def test_another_boot_and_a_heartbeat_of_the_future_count_for_nothing(self):
        self.assertFalse(is_counting(self.record, 101, "other"))
        self.assertFalse(is_counting(self.record, 50, "b"))

    def test_a_run_lives_as_long_as_one_of_its_processes_and_no_longer(self):
        child = subprocess.Popen(["sleep", "600"])
        record = {**self.record, "state": "running", "holders": [{"pid": child.pid, "start": 1}, holder(child.pid)]}
        self.assertTrue(is_counting(record, 99999.0, "b"), "silent, but alive: it is not taken away")
        self.assertFalse(is_counting({**record, "holders": record["holders"][:1]}, 101, "b"), "another process with that pid")
        self.assertFalse(is_counting({**record, "uid": os.geteuid() + 1}, 101, "b"), "a process of somebody else keeps nothing alive")
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # a zombie from here on
        self.assertFalse(is_counting(record, 101, "b"))
        child.wait()
        self.assertFalse(is_counting(record, 101, "b"))

    def test_processes_that_cannot_be_seen_are_believed_as_long_as_they_are_heard(self):
        record = {**self.record, "state": "running", "pidns": "pid:[1]", "holders": [{"pid": 1, "start": 1}]}
        self.assertEqual([is_counting(record, at, "b") for at in (119, 121)], [True, False])


class ProtocolTest(Case):
    def test_a_lease_is_taken_confirmed_renewed_and_given_back_and_leaves_nothing(self):
        first = self.ask("a")
        self.assertEqual((first["granted"], first["shared"], self.held()), (True, True, [("a", "prepared")]))
        lease = {"lease": "a", "fence": first["fence"]}
        confirm(lease, self.channel)
        self.assertEqual(renew(lease, self.channel), {"ttl": 20})
        refused = self.ask("b")
        self.assertEqual([(one["lease"], one["owner"], one["over"], one["state"]) for one in refused["holders"]], [("a", "a@here", "the whole node", "confirmed")])
        self.assertFalse(refused["granted"])
        self.assertEqual(len(release({"lease": "a", "own": True}, self.channel)["released"]), 1)
        self.assertEqual(list(self.shared.iterdir()), [])

    def test_runs_that_share_go_side_by_side(self):
        for lease in "abc":
            self.assertTrue(self.ask(lease, exclusive=False)["granted"])
        self.assertEqual([one["lease"] for one in self.ask("d")["holders"]], ["a", "b", "c"])

    def test_one_run_has_two_nodes_of_one_machine(self):
        other = self.node("other")
        self.assertTrue(self.ask("a")["granted"])
        self.assertTrue(self.ask("a", other)["granted"])
        release({"lease": "a", "own": True}, other)
        self.assertEqual(self.held(), [("a", "prepared")])

    def test_the_fencing_number_only_grows_whatever_the_clock_says_and_what_was_removed(self):
        fences = []
        for clock in (2e9, 1.0, 3e9, 2e9):
            with mock.patch("time.time", lambda clock=clock: clock):
                fences.append(self.ask("a")["fence"])
                if clock == 3e9:
                    shutil.rmtree(next(self.shared.iterdir()))
        self.assertEqual(sorted(set(fences)), fences)

    def test_a_jump_of_the_clock_neither_frees_nor_keeps(self):
        self.ask("a")
        for clock in (1.0, 4e9):
            with mock.patch("time.time", lambda clock=clock: clock):
                self.assertFalse(self.ask("b")["granted"])
        self.rewrite("a", heartbeat=reservation_life.now() - 21)
        with mock.patch("time.time", lambda: 1.0):
            self.assertTrue(self.ask("b")["granted"])

    def test_a_superseded_fence_is_refused(self):
        old = self.ask("a")["fence"]
        self.rewrite("a", heartbeat=reservation_life.now() - 21)
        with self.assertRaises(NodeError) as caught:
            confirm({"lease": "a", "fence": old}, self.channel)
        self.assertEqual((caught.exception.code, "not renewed in time" in caught.exception.message), ("RESERVATION_LOST", True))
        new = self.ask("a")["fence"]
        self.assertGreater(new, old)
        confirm({"lease": "a", "fence": new}, self.channel)
        for verb in (confirm, renew):
            with self.assertRaisesRegex(NodeError, "another one has taken its place"):
                verb({"lease": "a", "fence": old}, self.channel)
        lost = []
        with self.assertRaisesRegex(NodeError, "another one"):
            Hold(self.channel.root, {"lease": "a", "fence": old}, lost.append).take_over()

    def test_a_supervisor_needs_a_confirmed_one(self):
        fence = self.ask("a")["fence"]
        with self.assertRaisesRegex(NodeError, "is prepared, not confirmed"):
            Hold(self.channel.root, {"lease": "a", "fence": fence}, print).take_over()

    def test_who_came_first_is_first_in_line(self):
        self.ask("a")
        for lease, since in (("b", 100), ("c", 50)):
            self.assertFalse(self.ask(lease, wait=True, since=since)["granted"])
        release({"lease": "a", "own": True}, self.channel)
        self.assertEqual([one["lease"] for one in self.ask("d")["holders"]], ["c", "b"])
        self.assertEqual([one["lease"] for one in self.ask("b", wait=True)["holders"]], ["c"])
        self.assertTrue(self.ask("c", wait=True, look=True)["granted"])
        self.assertEqual(self.held(), [("c", "waiting"), ("b", "waiting")])
        self.assertTrue(self.ask("c", wait=True)["granted"])
        # A gang that was refused elsewhere goes back to its place.
        release({"lease": "c", "own": True, "wait": True}, self.channel)
        self.assertEqual(self.held(), [("c", "waiting"), ("b", "waiting")])

    def test_who_stops_waiting_loses_their_place(self):
        self.ask("a")
        self.ask("b", wait=True)
        release({"lease": "a", "own": True}, self.channel)
        self.rewrite("b", heartbeat=reservation_life.now() - 21)
        self.assertTrue(self.ask("c")["granted"])

    def test_what_is_no_record_is_passed_over_and_ones_own_is_removed(self):
        self.ask("a")
        own = next(self.shared.iterdir())
        good = next(own.iterdir())
        record = json.loads(good.read_text())
        bad = {**record, "lease": "x"}
        contents = ["", "{", "[]", "null", json.dumps({**bad, "ttl": 1e9}), json.dumps({**bad, "heartbeat": float("nan")}), json.dumps({**bad, "holders": [3]}),
                    json.dumps({**bad, "wants": {}}), json.dumps({**bad, "lease": "../x"}), "[" * 60000, "x" * 100_000]
        for index, text in enumerate(contents):
            (own / f"bad-{index}.json").write_text(text)
        (own / "link.json").symlink_to(good)
        os.mkfifo(own / "fifo.json")
        self.assertEqual(self.held(), [("a", "prepared")])
        self.assertEqual(listing(None, self.channel)["damaged"], len(contents) + 2)
        self.assertFalse(self.ask("b")["granted"])
        self.assertEqual(list(own.iterdir()), [good])

    def test_a_folder_that_others_can_write_to_is_not_believed(self):
        self.ask("a")
        next(self.shared.iterdir()).chmod(0o777)
        self.assertEqual(self.held(), [])

    def test_an_unsafe_shared_folder_is_refused(self):
        self.shared.chmod(0o777)
        with self.assertRaisesRegex(NodeError, "sticky"):
            self.ask("a")

    def test_force_is_needed_for_one_that_runs_and_the_owner_for_that_of_another(self):
        confirm({"lease": "a", "fence": self.ask("a")["fence"]}, self.channel)
        self.assertEqual(release({"lease": "a", "owner": "b@here"}, self.channel)["left"][0]["why"], "owner")
        hold = Hold(self.channel.root, {"lease": "a", "fence": self.place.read_own("a", self.channel.root)["fence"]}, print)
        hold.take_over()
        self.addCleanup(hold.give_back)
        self.assertEqual(release({"lease": "a", "owner": "a@here"}, self.channel)["left"][0]["why"], "running")
        self.assertEqual(release({"lease": "a", "own": True}, self.channel)["left"][0]["why"], "running")
        self.assertIsNone(hold.lost())
        self.assertEqual(len(release({"lease": "a", "owner": "a@here", "force": True}, self.channel)["released"]), 1)
        self.assertIn("was released", hold.lost())

    def test_a_full_disk_is_told_and_changes_nothing(self):
        self.ask("a", exclusive=False)
        before = {path.name: path.read_bytes() for path in next(self.shared.iterdir()).iterdir()}

        def no_room():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # every write fails with EFBIG, which needs no file system of its own

        given = {"lease": "b", "owner": "b", "node": "n", "nodes": ["n"], "ttl": 20, "wants": {"gpus": [], "slots": 1, "exclusive": False}}
        done = subprocess.run([sys.executable, str(PROGRAM), "reservation.take", str(self.channel.root), str(self.folder)],
                              input=json.dumps(given).encode() + b"\n", capture_output=True, preexec_fn=no_room, timeout=60)
        # Its answer goes to a pipe, which the limit does not concern.
        self.assertIn("error", json.loads(done.stdout.splitlines()[-1]))
        self.assertEqual({path.name: path.read_bytes() for path in next(self.shared.iterdir()).iterdir()}, before)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small file system")
    def test_a_file_system_without_room_is_told_and_changes_nothing(self):
        script = f"mount -t tmpfs -o size=4k,mode=1777 none {self.shared} && exec {sys.executable} {PROGRAM} reservation.take {self.channel.root} {self.folder}"
        given = {"lease": "b", "owner": "b", "node": "n", "nodes": ["n"], "ttl": 20, "project": "x" * 5000, "wants": {"gpus": [], "slots": 1, "exclusive": False}}
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], input=json.dumps(given).encode() + b"\n", capture_output=True, timeout=60)
        error = json.loads(done.stdout.splitlines()[-1])["error"]
        self.assertEqual((error["code"], "no space" in error["message"].lower()), ("NODE_UNFIT", True), error)


class RaceTest(Case):
    def test_of_thirty_that_ask_at_once_exactly_one_gets_it_in_every_round(self):
        count, rounds = 30, 15
        barrier, wins = FORK.Barrier(count), FORK.Array("i", rounds)

        def one(number):
            channel = self.node(f"root-{number}")
            for turn in range(rounds):
                barrier.wait(60)
                answer = self.ask(f"run-{number}-{turn}", channel)
                if answer["granted"]:
                    with wins.get_lock():
                        wins[turn] += 1
                elif not answer["holders"]:
                    os._exit(3)  # a refusal names who is in the way
                barrier.wait(60)
                release({"lease": f"run-{number}-{turn}", "own": True}, channel)

        self.race(one, count)
        self.assertEqual(list(wins), [1] * rounds)

    def test_no_two_have_it_at_the_same_time_while_holders_are_killed(self):
        """Every process takes, confirms, holds as a supervisor does, and is killed while it holds; the next one must get it, alone."""
        inside = self.folder / "inside"
        inside.mkdir()
        done = FORK.Value("i", 0)

        def one(number):
            channel = self.node(f"root-{number}")
            end = time.monotonic() + 60
            while time.monotonic() < end:
                answer = self.ask(f"run-{number}", channel)
                if not answer["granted"]:
                    continue
                lease = {"lease": f"run-{number}", "fence": answer["fence"]}
                confirm(lease, channel)
                Hold(channel.root, lease, print).take_over()
                alive = [int(path.name) for path in inside.iterdir() if (inside / path.name).exists() and os.path.exists(f"/proc/{path.name}")]
                if any(_is_running(pid) for pid in alive):
                    os._exit(4)
                (inside / str(os.getpid())).touch()
                with done.get_lock():
                    done.value += 1
                os.kill(os.getpid(), 9)
            os._exit(5)

        codes = self.race(one, 12, allowed=(-9,))
        self.assertEqual((codes, done.value), ([-9] * 12, 12))

    def race(self, work, count, allowed=(0,)):
        processes = [FORK.Process(target=work, args=(number,)) for number in range(count)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(90)
        codes = [process.exitcode for process in processes]
        self.assertTrue(all(code in allowed for code in codes), codes)
        return codes


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@unittest.skipUnless(os.geteuid() == 0, "needs root to be two users")
class UsersTest(Case):
    def as_user(self, uid, verb, **given):
        """What the verb answers that user. In a fork: the interpreter itself may be where only root can read."""
        self.folder.chmod(0o755)
        channel = self.node(f"home-{uid}")
        near, far = FORK.Pipe()

        def ask():
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.umask(0o077)
            far.send(verb(given, channel))

        process = FORK.Process(target=ask)
        process.start()
        process.join(60)
        self.assertEqual(process.exitcode, 0)
        return near.recv()

    def wish(self, lease, uid):
        return {"lease": lease, "owner": f"user{uid}@here", "node": "n", "nodes": ["n"], "ttl": 20, "wants": {"gpus": [], "slots": 1, "exclusive": True}}

    def test_users_see_each_other_and_cannot_touch_what_is_not_theirs(self):
        self.assertTrue(self.as_user(65534, take, **self.wish("a", 65534))["granted"])
        refused = self.as_user(12345, take, **self.wish("b", 12345))
        self.assertEqual([(one["lease"], one["user"], one["owner"]) for one in refused["holders"]], [("a", "nobody", "user65534@here")])
        left = self.as_user(12345, release, lease="a", owner="user65534@here", force=True)
        self.assertEqual([one["why"] for one in left["left"]], ["right"])
        self.assertEqual(self.held(), [("a", "prepared")])
        self.assertEqual(len(release({"lease": "a", "owner": "user65534@here"}, self.channel)["released"]), 1)

    def test_a_name_that_somebody_else_has_taken_hinders_nobody(self):
        squatted = self.shared / "flexrack-reservations-12345"
        squatted.mkdir(mode=0o755)
        os.chown(squatted, 65534, 65534)
        self.assertTrue(self.as_user(12345, take, **self.wish("b", 12345))["granted"])
        (one,) = listing(None, self.channel)["reservations"]
        self.assertEqual((one["lease"], one["user"]), ("b", "12345"))


class GpuIdsTest(unittest.TestCase):
    def test_they_are_what_the_driver_says(self):
        with tempfile.TemporaryDirectory() as name:
            for bus, text in (("0000:41:00.0", "Model: \t\t NVIDIA H200\nGPU UUID: \t GPU-6a1f2c3d-0000-1111-2222-333344445555\nBus Type: PCIe\n"), ("0000:01:00.0", "GPU UUID:  GPU-????????\n")):
                (Path(name) / bus).mkdir()
                (Path(name) / bus / "information").write_text(text)
            self.assertEqual(gpu_ids(Path(name)), ["pci:0000:01:00.0", "GPU-6a1f2c3d-0000-1111-2222-333344445555"])
            self.assertEqual(gpu_ids(Path(name) / "nothing"), [])


class PlaceTest(unittest.TestCase):
    def test_a_lock_that_somebody_keeps_is_told(self):
        with tempfile.TemporaryDirectory() as name:
            place = Place(Path(name), True)
            with place.locked(), self.assertRaisesRegex(NodeError, "another process has held"), place.locked(0.05):
                pass
