"""Programs that go to another server while they run (docs/adr/0079): real processes, the GPU in software. What they
print is what they print when nobody moves them.
"""

import os
import random
import signal
import threading
import time
import unittest

from cuda_programs import NATIVE, build
from servers import run, server_entry, wait_until
from test_cuda_faults import Client, GpuAttached, GpuDaemon

from rack import native_env  # noqa: E402  (test_cuda_faults has put its folder in the path)

MEBIBYTE = 1 << 20
SHARE = {"memory": 64 * MEBIBYTE}
LONG = os.environ.get("FLEXRACK_LONG") == "1"


class Moving:
    """A program's lease on one of several daemons, and its way from one to the next."""

    def __init__(self, case, daemons, transport="tls", held=True):
        self.case, self.daemons, self.at = case, daemons, 0
        self.attached = GpuAttached([daemons[0]], transport, share=SHARE, held=held)
        case.addCleanup(self.attached.close)
        self.lease = self.attached.leases[0]["lease"]

    def move(self, to, rest=10, change=lambda server: server):
        """What the daemon says of it; raises RuntimeError with its reason where the program stays."""
        target = self.daemons[to]
        taken = target.lease(**SHARE)
        server = {**server_entry(taken, to + 1), "grace_seconds": taken["grace_seconds"]}
        try:
            moved = self.daemons[self.at].ask("move", lease=self.lease, to=change(server), rest_seconds=rest)
        except RuntimeError:
            try:
                target.ask("release", lease=taken["lease"])
            except (RuntimeError, OSError):
                pass  # the holder has given it back, or the daemon is gone
            raise
        self.at, self.lease = to, taken["lease"]
        return moved

    def state(self, index):
        return [one["state"] for one in self.daemons[index].ask("leases")["leases"]]


class CudaMoves(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs = build(sources=NATIVE / "test" / "cuda_fault")
        cls.moved, cls.keep, cls.load = (programs[name]["static"] for name in ("moved", "keep", "load"))

    def serve(self, count=2, **options):
        daemons = []
        for _ in range(count):
            daemons.append(GpuDaemon("sim", options=("--sim-memory", str(1 << 30)), **options))
            self.addCleanup(daemons[-1].stop)
        return daemons

    def undisturbed(self, *words):
        """What it prints where it is alone on the device itself, but for its share."""
        status, out, errors = run([self.moved, *words], native_env("sim"), preload=True)
        self.assertEqual(status, 0, out[-500:] + errors[-2000:])
        return [line for line in out.splitlines() if not line.startswith("free ")]

    def lines_of(self, client):
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(client.process.stdout), daemon=True)
        reader.start()
        return lines, reader

    def finished(self, client, lines, reader, wanted):
        reader.join(300)
        client.process.wait(60)
        found = [line.rstrip("\n") for line in lines if not line.startswith("free ")]
        self.assertEqual(client.process.returncode, 0, "".join(lines[-3:]) + client.process.stderr.read()[-3000:])
        self.assertEqual(found, wanted)

    def used(self, daemon):
        return sum(device["used"] for device in daemon.ask("devices")["devices"])

    def test_a_program_that_is_moved_computes_what_it_would_have(self):
        rounds, moves = (3000, 50) if LONG else (300, 4)
        wanted = self.undisturbed(rounds)
        for transport in ("tls", "shm") if LONG else ("tls",):
            with self.subTest(transport=transport):
                daemons = self.serve(3 if LONG else 2)
                moving = Moving(self, daemons, transport)
                client = Client(self, [self.moved, rounds], moving.attached.env)
                lines, reader = self.lines_of(client)
                chance, done = random.Random(79), 0
                wait_until(lambda: lines, 60, "the first round")
                pauses = []
                for number in range(moves):
                    seen = len(lines)
                    wait_until(
                        lambda: len(lines) > seen + chance.randrange(rounds // moves // 4 + 1) or not reader.is_alive(),
                        120,
                        "more rounds",
                    )
                    if not reader.is_alive():
                        break
                    to = chance.choice([one for one in range(len(daemons)) if one != moving.at])
                    before, old = self.used(daemons[moving.at]), moving.at
                    pauses.append(moving.move(to)["pause_seconds"])
                    done += 1
                    self.assertEqual((self.used(daemons[old]), daemons[old].workers()), (0, []), f"move {number}")
                    wait_until(lambda: moving.state(to) == ["held"], 30, "its being held there")
                    self.assertGreater(before, 0)
                self.finished(client, lines, reader, wanted)
                print(f"    {transport}: {done} moves, a pause of {max(pauses):.2f} s at most")
                self.assertEqual(done, moves, "it was over before it was moved as often as it was to be")
                wait_until(lambda: self.used(daemons[moving.at]) == 0, 30, "the memory's being given back")

    def test_a_program_that_starts_later_finds_the_lease_where_it_went(self):
        daemons = self.serve()
        moving = Moving(self, daemons)
        moving.move(1)
        self.assertEqual(moving.state(0), [])
        wait_until(lambda: moving.lease in moving.attached.file.read_text(), 30, "the lease file's being changed")
        client = Client(self, [self.moved, 3], moving.attached.env)
        lines, reader = self.lines_of(client)
        self.finished(client, lines, reader, self.undisturbed(3))

    def test_a_lease_is_moved_again_while_its_holder_changes_over(self):
        for transport in ("tls", "shm"):
            with self.subTest(transport=transport):
                daemons = self.serve()
                moving = Moving(self, daemons, transport)
                for _ in range(8):
                    moving.move(1 - moving.at)
                wait_until(lambda: moving.state(0) == ["held"], 30, "its being held there")
                self.assertIsNone(moving.attached.holds.poll())

    def test_a_lease_that_nobody_holds_yet_moves_with_its_holder(self):
        daemons = self.serve()
        moving = Moving(self, daemons, held=False)
        told = []
        mover = threading.Thread(target=lambda: told.append(moving.move(1)))
        mover.start()
        wait_until(lambda: moving.state(1) == ["granted"], 30, "the other lease")
        moving.attached.hold()
        mover.join(60)
        self.assertEqual([one["state"] for one in told], ["moved"])
        wait_until(lambda: moving.lease in moving.attached.file.read_text(), 30, "the lease file's being changed")
        wait_until(lambda: (moving.state(0), moving.state(1)) == ([], ["held"]), 30, "its being held there")
        self.assertIsNone(moving.attached.holds.poll())

    def test_a_lease_that_ends_on_its_way_is_over_in_both_places(self):
        daemons = self.serve()
        moving = Moving(self, daemons)
        client = Client(self, [self.keep, MEBIBYTE, "endless"], moving.attached.env)
        self.assertEqual(client.line(), "ready")
        told = []

        def move():
            try:
                told.append(moving.move(1, rest=60))
            except RuntimeError as error:
                told.append(str(error))

        mover = threading.Thread(target=move)
        mover.start()
        wait_until(lambda: moving.state(1) == ["held"], 30, "the other lease's being held")
        daemons[0].ask("release", lease=moving.lease)
        mover.join(60)
        self.assertRegex(str(told), "it has ended meanwhile")
        wait_until(lambda: (moving.state(0), moving.state(1)) == ([], []), 30, "the end of both")

    def test_what_cannot_move_stays_and_goes_on(self):
        daemons = self.serve()
        moving = Moving(self, daemons)
        client = Client(self, [self.keep, MEBIBYTE, "endless"], moving.attached.env)
        self.assertEqual(client.line(), "ready")
        with self.assertRaisesRegex(RuntimeError, "did not come to rest within 1 s"):
            moving.move(1, rest=1)
        self.assertEqual((moving.state(0), len(daemons[0].workers())), (["held"], 1))
        wait_until(lambda: moving.state(1) == [], 30, "the other lease's end")
        self.assertEqual(client.process.poll(), None)

    def test_a_server_that_is_lost_or_out_of_reach_leaves_the_program_where_it_is(self):
        rounds = 300
        wanted = self.undisturbed(rounds)
        daemons = self.serve()
        moving = Moving(self, daemons)
        client = Client(self, [self.moved, rounds], moving.attached.env)
        lines, reader = self.lines_of(client)
        wait_until(lambda: lines, 60, "the first round")
        with self.assertRaisesRegex(RuntimeError, "does not reach that server"):
            moving.move(1, change=lambda server: {**server, "port": 1})  # nobody listens there
        seen = len(lines)
        wait_until(lambda: len(lines) > seen or not reader.is_alive(), 60, "its going on")
        # The worker there is killed at some moment of the move.
        for wait in (0.0, 0.05, 0.2):
            if not reader.is_alive():
                break

            def kill(wait=wait):
                time.sleep(wait)
                for pid in daemons[1].workers():
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except OSError:
                        pass

            killer = threading.Thread(target=kill)
            killer.start()
            try:
                moving.move(1)
            except RuntimeError:
                self.assertEqual(moving.at, 0)
            killer.join()
            if moving.at == 1:  # it was there before the worker was to be killed, or with it
                break
        if moving.at == 0:
            self.finished(client, lines, reader, wanted)


if __name__ == "__main__":
    unittest.main()
