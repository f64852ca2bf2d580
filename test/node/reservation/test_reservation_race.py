import hashlib  # noqa: F401  the users of as_user may not be able to read this Python
import json
import os
import time
import unittest
from pathlib import Path

from flexrack_node.reservation.hold import Hold
from flexrack_node.verbs.reservation import confirm, listing, release, take
from reservation_support import FORK, Case
from waiting import LONG


class RaceTest(Case):
    def test_of_thirty_that_ask_at_once_exactly_one_gets_it_in_every_round(self):
        count, rounds = 30, 15
        barrier, wins = FORK.Barrier(count), FORK.Array("i", rounds)

        def one(number):
            channel = self.node(f"root-{number}")
            for turn in range(rounds):
                barrier.wait(LONG)
                answer = self.ask(f"run-{number}-{turn}", channel)
                if answer["granted"]:
                    with wins.get_lock():
                        wins[turn] += 1
                elif not answer["holders"]:
                    os._exit(3)  # a refusal names who is in the way
                barrier.wait(LONG)
                release({"lease": f"run-{number}-{turn}", "own": True}, channel)

        self.race(one, count)
        self.assertEqual(list(wins), [1] * rounds)

    def test_no_two_have_it_at_the_same_time_while_holders_are_killed(self):
        """Every process takes, confirms, holds as a supervisor does, and is killed while it holds; the next one must
        get it, alone.
        """
        inside = self.folder / "inside"
        inside.mkdir()
        done = FORK.Value("i", 0)

        def one(number):
            channel = self.node(f"root-{number}")
            end = time.monotonic() + LONG
            while time.monotonic() < end:
                answer = self.ask(f"run-{number}", channel)
                if not answer["granted"]:
                    continue
                lease = {"lease": f"run-{number}", "fence": answer["fence"]}
                confirm(lease, channel)
                Hold(channel.root, lease, print).take_over()
                alive = [
                    int(path.name)
                    for path in inside.iterdir()
                    if (inside / path.name).exists() and os.path.exists(f"/proc/{path.name}")
                ]
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
        process.join(LONG)
        self.assertEqual(process.exitcode, 0)
        return near.recv()

    def wish(self, lease, uid):
        return {
            "lease": lease,
            "owner": f"user{uid}@here",
            "node": "n",
            "nodes": ["n"],
            "ttl": 20,
            "wants": {"gpus": [], "slots": 1, "exclusive": True},
        }

    def test_users_see_each_other_and_cannot_touch_what_is_not_theirs(self):
        self.assertTrue(self.as_user(65534, take, **self.wish("a", 65534))["granted"])
        refused = self.as_user(12345, take, **self.wish("b", 12345))
        self.assertEqual(
            [(one["lease"], one["user"], one["owner"]) for one in refused["holders"]],
            [("a", "nobody", "user65534@here")],
        )
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

    def test_names_that_come_and_go_before_ours_take_nothing_away(self):
        """Who squats a name and gives it back would end the run of the next user otherwise: its record could not be
        found any more.
        """
        squatted = [self.shared / f"flexrack-reservations-12345{end}" for end in ("", "-1")]
        for one in squatted:
            one.mkdir(mode=0o755)
        self.assertTrue(self.as_user(12345, take, **self.wish("b", 12345))["granted"])
        for one in squatted:
            one.rmdir()
        again = self.as_user(12345, take, **self.wish("c", 12345))
        self.assertEqual((again["granted"], [one["lease"] for one in again["holders"]]), (False, ["b"]))
        self.assertEqual(
            [
                one["lease"]
                for one in self.as_user(12345, release, lease="b", own=True, owner="user12345@here")["released"]
            ],
            ["b"],
        )
        squatted[0].mkdir(mode=0o755)
        lease = self.as_user(12345, take, **self.wish("d", 12345))
        squatted[0].rmdir()
        self.assertEqual(self.as_user(12345, confirm, lease="d", fence=lease["fence"]), {"ttl": 20.0})
        self.assertEqual(len(list(self.shared.iterdir())), 1)

    def test_of_one_user_only_so_much_is_read_however_many_folders_it_has(self):
        """Everybody reads it under the one lock: each of its folders counted for itself, thirty of them kept all others
        from it.
        """
        self.ask("a", exclusive=False)
        record = self.place.read_own("a", self.channel.root)
        self.place.remove(record)
        large = json.dumps({**record, "wants": {**record["wants"], "gpus": ["g" * 100] * 500}})
        for number in range(12):
            folder = self.shared / f"flexrack-reservations-many-{number}"
            folder.mkdir(mode=0o755)
            for file in range(60):
                (folder / f"b{file}.json").write_text(large)
            os.chown(folder, 65534, 65534)
            for file in folder.iterdir():
                os.chown(file, 65534, 65534)
        found = [one["uid"] for one in self.place.records()]
        self.assertLess(found.count(65534) * len(large), 17 * 1024 * 1024)
        self.assertGreater(found.count(65534), 100)
        self.assertEqual(self.place.damaged, 12 * 60 - found.count(65534))
