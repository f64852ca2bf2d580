import os
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from flexrack_node.process.containment import tagged_pids
from flexrack_node.rank import mpi
from run_support import Rack, supervisor_pid
from waiting import until

RANKS = ((0, "node-1"), (1, "node-1"), (2, "node-2"), (3, "node-2"))

# A real MPI program: a sum over all ranks, then what its argument says.
PROGRAM = r"""
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int rank;
static int asked;
static void save(int number) {
    (void)number;
    if (asked++) { (void)!write(1, "asked again\n", 12); return; }
    if (rank == 0) _exit(3);
    for (int left = rank + 1; left;) left = sleep(left);
    (void)!write(1, "saved\n", 6);
    _exit(0);
}
int main(int count, char **words) {
    int one, sum;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one = rank + 1;
    setvbuf(stdout, 0, _IONBF, 0);
    struct sigaction action = {.sa_handler = save, .sa_flags = SA_NODEFER};
    if (!strcmp(words[1], "save")) sigaction(SIGTERM, &action, 0);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("up %d\n", sum);
    if (!strcmp(words[1], "stay") || !strcmp(words[1], "save")) for (;;) pause();
    if (!strcmp(words[1], "fail") && rank == 3) { printf("no such digit\n"); _exit(17); }
    if (!strcmp(words[1], "abort") && rank == 2) { printf("gives up\n"); MPI_Abort(MPI_COMM_WORLD, 5); }
    if (strcmp(words[1], "sum")) MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


class MpiTest(unittest.TestCase):
    def setUp(self):
        self.rack = Rack(2)
        self.addCleanup(self.rack.close)
        source = self.rack.folder / "program.c"
        source.write_text(PROGRAM)
        subprocess.run(["mpicc", "-o", str(self.rack.folder / "program"), str(source)], check=True)

    def start(self, word, **parts):
        return self.rack.start(
            launcher="mpi", processes=2, command=[str(self.rack.folder / "program"), word], **{"grace": 20, **parts}
        )

    def up(self, run):
        """Until every rank has summed with all others."""

        def said(rank, node):
            log = self.rack.folder / node / "runs" / run / "attempts" / "1" / f"rank-{rank}.log"
            return log.exists() and "up 10" in log.read_text()

        until(lambda: all(said(*one) for one in RANKS))

    def named(self, run, name):
        """Pids of a run's processes of this name on any node."""
        found = [pid for index in (0, 1) for pid in tagged_pids(f"{run}.{index}.1")]
        return [pid for pid in found if Path(f"/proc/{pid}/comm").read_text().strip() == name]

    def assert_nothing_left(self, run):
        self.assertEqual(self.rack.alive(run), set())
        self.assertEqual([str(path) for folder in ("/dev/shm", "/tmp") for path in Path(folder).glob(f"*{run}*")], [])

    def test_ranks_are_where_the_plan_says_and_have_what_torchrun_and_horovod_would_tell_them(self):
        names = (
            "RANK",
            "LOCAL_RANK",
            "WORLD_SIZE",
            "LOCAL_WORLD_SIZE",
            "HOROVOD_RANK",
            "HOROVOD_LOCAL_RANK",
            "HOROVOD_SIZE",
            "HOROVOD_CROSS_RANK",
            "HOROVOD_HOSTNAME",
            "MASTER_ADDR",
            "FLEXRACK_NODE",
        )
        self.rack.script(
            f"import os; print(*(os.environ[name] for name in {names}), os.environ['MASTER_PORT'].isdigit(), os.environ.get('TMPDIR'), os.environ.get('FLEXRACK_MPI'), os.getcwd())"
        )
        run = self.rack.start(launcher="mpi", processes=2)
        self.assertEqual(self.rack.finish(run)["status"], "finished")
        for rank, node in RANKS:
            index, local = divmod(rank, 2)
            self.assertEqual(
                self.rack.log(run, rank, node),
                f"{rank} {local} 4 2 {rank} {local} 4 {index} {node} 127.0.0.1 {node} True {os.environ.get('TMPDIR')} None {self.rack.folder}/code\n",
            )
        self.assert_nothing_left(run)

    def test_a_rank_that_fails_is_the_first_cause_and_the_next_attempt_starts_anew(self):
        run = self.start("fail", restarts=1)
        state = self.rack.finish(run)
        cause = state["cause"]
        self.assertEqual(
            (state["status"], cause["kind"], cause["rank"], cause["node"], cause["exit"], cause["message"]),
            ("failed", "rank", 3, "node-2", 17, "no such digit"),
        )
        self.assertEqual(len(state["records"]), 2)
        self.assert_nothing_left(run)

    def test_mpi_abort_names_the_rank_that_called_it(self):
        run = self.start("abort")
        cause = self.rack.finish(run)["cause"]
        self.assertEqual((cause["kind"], cause["rank"], cause["exit"]), ("rank", 2, 5))
        self.assert_nothing_left(run)

    def test_a_stop_leaves_every_rank_its_grace_although_another_ended_badly_meanwhile(self):
        run = self.start("save")
        self.up(run)
        answer = self.rack.call("node-2", "run.stop", {"run": run})
        self.assertEqual((answer["status"], answer["left"]), ("stopped", []))
        self.assertEqual([self.rack.log(run, *one) for one in RANKS], ["up 10\n", *["up 10\nsaved\n"] * 3])
        self.assert_nothing_left(run)

    def test_mpirun_or_a_daemon_that_is_killed_is_told_and_nothing_is_left(self):
        def parent_of_mpirun(run):
            return [
                int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
                for pid in self.named(run, "mpirun")
            ]

        for name, node, message in (
            ("its parent", "node-1", "mpi: the launcher was killed by SIGKILL"),
            ("mpirun", "node-1", "mpi: mpirun was killed by SIGKILL"),
            ("orted", "node-2", "mpi: orted on node-2 was killed by SIGKILL"),
        ):
            with self.subTest(name):
                run = self.start("stay")
                self.up(run)
                (pid,) = parent_of_mpirun(run) if name == "its parent" else self.named(run, name)
                os.kill(pid, signal.SIGKILL)
                cause = self.rack.finish(run)["cause"]
                self.assertEqual((cause["kind"], cause["node"], cause["message"]), ("launcher", node, message))
                self.assert_nothing_left(run)

    def test_a_supervisor_that_is_killed_takes_its_part_of_the_world_with_it(self):
        for node in ("node-1", "node-2"):
            with self.subTest(node):
                run = self.start("stay")
                self.up(run)
                os.kill(supervisor_pid(self.rack, run, node), signal.SIGKILL)
                for one in self.rack.nodes:
                    self.assertEqual(self.rack.finish(run, one)["status"], "failed")
                until(lambda: not self.rack.alive(run))
                self.assert_nothing_left(run)

    def test_a_node_without_open_mpi_is_named_with_the_command_that_installs_it(self):
        bin = self.rack.folder / "bin"
        bin.mkdir()
        for name in ("sh", "env"):
            (bin / name).symlink_to(shutil.which(name))
        # Ranks find what lies beside their Python: of Debian's own that is /usr/bin, with an mpirun.
        python = bin / "python"
        python.symlink_to(sys.executable)
        self.rack.env["PATH"] = str(bin)
        self.assertEqual(self.rack.call("node-1", "mpi.inspect", {}), {"version": None, "series": None})
        run = self.start("sum", python=str(python))
        cause = self.rack.finish(run)["cause"]
        self.assertEqual(cause["kind"], "launcher")
        self.assertRegex(
            cause["message"], r"^mpi: there is no Open MPI on node-\d \(sudo apt-get install openmpi-bin\)$"
        )


class MpiWordsTest(unittest.TestCase):
    def test_the_daemons_arguments_are_found_in_whatever_line_mpirun_makes_for_a_shell(self):
        wanted = ["-mca", "ess", "env", "-mca", "orte_hnp_uri", "1.0;tcp://10.0.0.1:5"]
        plain = '-mca ess "env" -mca orte_hnp_uri "1.0;tcp://10.0.0.1:5"'
        for line in (
            f" orted {plain}",
            f"PATH=/opt/bin:$PATH ; export PATH ; /opt/bin/orted {plain}",
            f"( test ! -r ./.profile || . ./.profile; orted {plain} )",
        ):
            self.assertEqual(mpi.daemon_words(line), wanted)
        with self.assertRaises(ValueError):
            mpi.daemon_words("rm -rf /")
        with self.assertRaises(ValueError):
            mpi.host_index("example.org")

    def test_a_rank_that_is_not_where_the_plan_says_does_not_start(self):
        place = '{"index": 1, "nodes": 2, "processes": 2, "scratch": "/s", "tmpdir": null, "interface": "eth0", "address": "10.0.0.1", "port": 1}'
        rank = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}
        environ = {mpi.PLACE: place, "TMPDIR": "/s", "OMPI_MCA_btl_tcp_if_include": "ib0", **rank}
        self.assertTrue(mpi.take_place(environ))
        self.assertEqual(
            (environ["RANK"], environ["OMPI_MCA_btl_tcp_if_include"], "TMPDIR" in environ), ("2", "ib0", False)
        )
        with self.assertRaises(RuntimeError):
            mpi.take_place({mpi.PLACE: place, **rank, "OMPI_COMM_WORLD_RANK": "3"})
        self.assertFalse(mpi.take_place({}))

    def test_root_is_told_of_to_mpirun_and_nobody_else_is(self):
        job = {"nodes": ["a", "b"], "processes": 2, "grace": 5}
        for is_root in (True, False):
            self.assertEqual(
                "--allow-run-as-root" in mpi.mpirun_words("mpirun", job, Path("/s/hosts"), "agent", is_root), is_root
            )
        self.assertEqual(mpi.hostfile_text(2, 3), "localhost slots=3\nflexrack-1 slots=3\n")
