import os
import tempfile
import unittest
from pathlib import Path

from flexrack_node.rank.launch import rank_argv, rank_environment
from flexrack_node.slurm import check

# scontrol --oneliner show partition, Slurm 22.05.
SHOWN = (
    "PartitionName=gpu AllowGroups=ALL AllowAccounts=ml,vision AllowQos=ALL AllocNodes=ALL Default=YES QoS=N/A DefaultTime=NONE DisableRootJobs=NO MaxNodes=4 MaxTime=2-12:00:00 MinNodes=0 Nodes=c[1-8] State=UP TotalCPUs=256 TotalNodes=8\n"
    "PartitionName=all AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED State=DOWN TotalCPUs=2 TotalNodes=1\n"
)
MOUNTS = (
    "22 1 0:20 / / rw,relatime - ext4 /dev/vda1 rw\n"
    "23 22 0:40 / /home rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2\n"
    "24 23 0:41 / /home/my\\040disk rw - xfs /dev/vdb rw\n"
)


class SlurmCheckTest(unittest.TestCase):
    def test_partitions_are_read_with_what_a_job_in_them_may_have(self):
        self.assertEqual(
            check.read_partitions(SHOWN, "gpu|32+\nall|2\nall|1\n"),
            [
                {
                    "name": "gpu",
                    "default": True,
                    "up": True,
                    "nodes": 8,
                    "most_nodes": 4,
                    "seconds": 216000,
                    "cpus": 32,
                    "accounts": ["ml", "vision"],
                },
                {
                    "name": "all",
                    "default": False,
                    "up": False,
                    "nodes": 1,
                    "most_nodes": None,
                    "seconds": None,
                    "cpus": 2,
                    "accounts": None,
                },
            ],
        )

    def test_the_file_system_of_a_folder_is_that_of_the_longest_mount_point(self):
        for path, kind in (
            ("/srv/x", "ext4"),
            ("/home/me/.flexrack", "nfs4"),
            ("/home", "nfs4"),
            ("/homes", "ext4"),
            ("/home/my disk/x", "xfs"),
        ):
            self.assertEqual(check.kind_of(Path(path), MOUNTS), kind, path)

    def test_pyxis_is_there_where_srun_itself_shows_its_options(self):
        with tempfile.TemporaryDirectory() as folder:
            srun = Path(folder) / "srun"
            for help, expected in (
                ("      --container-image=[USER@][REGISTRY#]IMAGE[:TAG]|PATH", True),
                ("      --container=   Path to OCI container bundle", False),
            ):
                srun.write_text(f"#!/bin/sh\necho '{help}'\n")
                os.chmod(srun, 0o755)
                self.assertEqual(check.has_pyxis(folder), expected)

    def test_in_a_container_ranks_have_the_images_python_and_no_environment_of_ours(self):
        spec = {
            "command": ["train.py"],
            "python": "python3",
            "container": "ubuntu",
            "processes": 1,
            "nodes": ["c1"],
            "index": 0,
            "launcher": "plain",
            "run": "r",
            "node": "c1",
            "address": "127.0.0.1",
            "gang": {"address": "127.0.0.1"},
            "env": {},
        }
        env = rank_environment(spec, 1, 20000, Path("/outputs"), None)
        self.assertEqual((env["PATH"], env.get("VIRTUAL_ENV")), (os.environ["PATH"], os.environ.get("VIRTUAL_ENV")))
        self.assertEqual(rank_argv(spec), ["python3", "-u", "train.py"])
